# SPDX-License-Identifier: GPL-2.0-or-later
"""The results pages: which cells they are made of, running what is missing, and writing them."""
