# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run and its result are, as types: ``cell.json`` and ``result.json``."""
