# SPDX-License-Identifier: GPL-2.0-or-later
"""The project's own investigations; each writes a record to ``results/``."""
