# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's image: its programs and the agent that starts a scenario."""
