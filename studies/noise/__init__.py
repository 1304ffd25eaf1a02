# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise floors: mainline against its double (an equal kernel), with other seeds."""
