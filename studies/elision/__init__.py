# SPDX-License-Identifier: GPL-2.0-or-later
"""The effect of eliding busy loops on gem5."""
