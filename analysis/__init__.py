# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run's files to measures, comparisons and figures."""
