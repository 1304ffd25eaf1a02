# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's activity compared with gem5's counted events."""
