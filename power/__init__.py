# SPDX-License-Identifier: GPL-2.0-or-later
"""Power: McPAT's figures of a core, scaled with supply and temperature, calibrated where data is.

Standard library only: gem5's embedded Python reads it as the analysis does.
"""
