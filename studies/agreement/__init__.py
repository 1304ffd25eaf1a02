# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine compared with gem5, cell by cell."""
