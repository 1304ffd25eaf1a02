# SPDX-License-Identifier: GPL-2.0-or-later
"""The scoreboard: figures that sources measured on boards, compared with ours."""
