# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app: what tasks become, and JSON files of people."""
