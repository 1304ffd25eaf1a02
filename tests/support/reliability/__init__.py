# SPDX-License-Identifier: GPL-2.0-or-later
"""What a small campaign survives, with counts: ``python -m tests.support.reliability``."""
