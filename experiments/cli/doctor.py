# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope doctor``: what this machine has and lacks, and how to get the rest."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from eascope.experiments.cli.output import print_columns, print_json

SUMMARY = "check what this host provides and lacks, and how to install what is missing"
EXAMPLE = "eascope doctor"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Whether to install what is missing."""
    parser.add_argument(
        "--fix",
        action="store_true",
        help="first install missing Debian packages, as root or by sudo without a password; "
        "else print the command",
    )


def run(options: argparse.Namespace) -> int:
    """Print every check; exit 1 when something that is needed is missing.

    :raises EascopeError: ``--fix`` may not install packages here.
    """
    from eascope.experiments.doctor import OPTIONAL, diagnose, install_missing

    if options.fix:
        install_missing()
    checks = diagnose()
    missing = [check for check in checks if not check.ok and check.check not in OPTIONAL]
    if options.json:
        print_json([asdict(check) for check in checks])
        return 1 if missing else 0
    print_columns(
        (
            "ok" if check.ok else "MISSING" if check in missing else "absent",
            check.check,
            check.detail,
        )
        for check in checks
    )
    for check in checks:
        if not check.ok:
            print(f"{check.check}: {check.remedy}")
    return 1 if missing else 0
