# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibration of the power models against measurements, and the page with their errors."""
