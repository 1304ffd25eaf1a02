# SPDX-License-Identifier: GPL-2.0-or-later
"""How long work takes on a core, for every engine and for those who read its runs."""
