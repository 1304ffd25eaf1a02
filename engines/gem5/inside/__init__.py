# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine on gem5: its settings (types), and the scripts that gem5 itself runs.

``request``, ``operations``, ``columns`` and ``rows`` need no gem5 and are tested without one.
``run.py`` is what gem5 starts; it and the modules that it alone imports use ``m5``.
"""
