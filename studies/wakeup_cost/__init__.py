# SPDX-License-Identifier: GPL-2.0-or-later
"""What a wake-up costs, in instructions."""
