# SPDX-License-Identifier: GPL-2.0-or-later
"""What the project has measured and the product reads: noise floors, model ranges, agreement.

``data/`` has the files. ``python -m eascope.experiments.renew`` measures noise floors, ranges over
assumptions and the agreement of the engines anew.
"""
