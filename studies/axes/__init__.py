# SPDX-License-Identifier: GPL-2.0-or-later
"""Which verdicts survive the model axes."""
