# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutants of the lines that a queue adds, and the guest checks that kill them."""
