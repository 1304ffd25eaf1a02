# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that variants name: sources, queues of patches, builds."""
