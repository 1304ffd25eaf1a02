# SPDX-License-Identifier: GPL-2.0-or-later
"""The results pages: their cells, their missing runs, and writing them."""
