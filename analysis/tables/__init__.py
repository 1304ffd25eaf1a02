# SPDX-License-Identifier: GPL-2.0-or-later
"""Result tables: one module per table, with one function that makes it.

Every table is tidy, times are ns since power-on, and names of columns have their unit. Tables of
the trace hold every thread. Their column ``task`` is the scenario's name of the thread's task, and
null for other threads.
"""
