# SPDX-License-Identifier: GPL-2.0-or-later
"""The time of work on a core, for every engine and for readers of its runs."""
