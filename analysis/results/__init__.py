# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of the project's own studies, read from ``results/``.

A record has the figures of its page at full precision, with their origin. Captions and pages take
figures from records; no code reads a page. ``results/README.md`` describes the records.
"""
