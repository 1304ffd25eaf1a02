# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: the language, its tasks, groups, programs, draws and checks."""
