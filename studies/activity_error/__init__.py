# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fast engine states of activity, against what gem5 counts."""
