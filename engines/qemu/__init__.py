# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine: stock QEMU with eascope's plugin."""
