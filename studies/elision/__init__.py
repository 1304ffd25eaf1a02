# SPDX-License-Identifier: GPL-2.0-or-later
"""What eliding busy loops changes on gem5."""
