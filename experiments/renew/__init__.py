# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures anew what the product reads from `analysis.known`."""
