# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks that wait for memory: their time on gem5's cores, and the time that the engines account."""
