# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulators behind one contract, :mod:`engines.base`."""
