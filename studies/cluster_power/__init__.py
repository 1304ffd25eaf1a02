# SPDX-License-Identifier: GPL-2.0-or-later
"""Billed power of a whole cluster, compared with the power measured on that cluster."""
