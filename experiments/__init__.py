# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios, cells, runs and the command line."""
