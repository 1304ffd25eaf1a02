# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks that wait for memory: what gem5's cores execute, and what the engines take for it."""
