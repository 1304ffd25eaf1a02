# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference engine: gem5 in full-system mode."""
