# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of a run and its result: ``cell.json`` and ``result.json``."""
