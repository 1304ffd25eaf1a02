# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulators, under one contract: :mod:`engines.base`."""
