# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's own power expressions compared with our rows."""
