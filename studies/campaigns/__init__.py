# SPDX-License-Identifier: GPL-2.0-or-later
"""Shipped campaigns: records, answers and drawings."""
