# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of devices as scenarios."""
