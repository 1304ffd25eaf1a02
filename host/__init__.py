# SPDX-License-Identifier: GPL-2.0-or-later
"""Services of this machine: errors in one line, the cache, subprocesses, Debian packages.

Every room may import this room. It imports only the standard library.
"""
