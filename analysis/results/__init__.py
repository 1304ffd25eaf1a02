# SPDX-License-Identifier: GPL-2.0-or-later
"""Results as records: what the project's own studies found, read from ``results/``.

A record has every figure of its page at full precision, with what it was made of. Whoever needs a
figure (a caption, a page) takes it from here; nothing reads a page. ``results/README.md`` has the
schema in words.
"""
