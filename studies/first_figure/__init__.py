# SPDX-License-Identifier: GPL-2.0-or-later
"""Video playback with EAS and without it: the first figure."""
