# SPDX-License-Identifier: GPL-2.0-or-later
"""Result tables: one module per table, one function per module that makes it.

Every table is tidy, times are ns since power-on, and columns carry their unit. Tables of the trace
hold every task; ``task`` is the scenario's name of a thread's task, and null for other threads.
"""
