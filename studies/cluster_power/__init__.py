# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of a whole cluster as a platform bills it, against what was measured on that cluster."""
