# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios, cells and runs, and the command line that makes them."""
