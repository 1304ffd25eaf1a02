# SPDX-License-Identifier: GPL-2.0-or-later
"""The same variants on the default release of Linux and on the newest one: record and page."""
