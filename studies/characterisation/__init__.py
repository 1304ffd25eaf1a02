# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's cores, as they were measured."""
