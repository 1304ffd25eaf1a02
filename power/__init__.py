# SPDX-License-Identifier: GPL-2.0-or-later
"""Power: McPAT's figures of a core, scaled with supply and temperature, calibrated if possible.

This room is the Python that computes watts. The models are in ``power-models/``: committed data,
and the Rust that derives them.
"""
