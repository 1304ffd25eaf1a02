# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns: sets of cells by axes, their states, and running their missing cells."""
