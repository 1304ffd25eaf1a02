# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a wake-up in instructions."""
