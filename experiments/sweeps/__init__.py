# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns: sets of cells by axes, what is there of them, and running what is missing."""
