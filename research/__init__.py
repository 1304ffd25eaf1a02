# SPDX-License-Identifier: GPL-2.0-or-later
"""The project's own investigations: a plan, a record and a page each; see README.md."""
