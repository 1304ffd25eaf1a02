# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real devices, in the formats of the field, as one set of tables."""
