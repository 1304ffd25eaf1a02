# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo's comparison: the headline of the README."""
