# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise floors: mainline against a kernel that does the same, with other seeds."""
