# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of gem5 cores."""
