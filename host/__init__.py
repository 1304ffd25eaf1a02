# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine offers: errors in one line, the cache, subprocesses, Debian packages.

Every room may import it, and it imports the standard library only.
"""
