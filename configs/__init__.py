# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms, cores and activity: the simulated machines, their files, their device tree."""
