# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs: from a request to a cell, its execution, its store and its results."""
