# SPDX-License-Identifier: GPL-2.0-or-later
"""The last lines of a test session: why tests were skipped, then how many passed, failed, skipped.

The last line stands by itself, so that a person and a program find it.
"""

from collections import Counter
from collections.abc import Generator, Mapping
from typing import Any

import pytest


def closing_lines(stats: Mapping[str, list[Any]]) -> list[str]:
    """A line for each reason of tests that were skipped or failed as expected, and one of totals.

    A test that fails as expected is in none of the totals.

    :param stats: reports by outcome, as pytest's terminal reporter keeps them.
    """
    skipped = stats.get("skipped", [])
    reasons = Counter(_reason(report) for report in skipped)
    counted = {
        "passed": len(stats.get("passed", [])),
        # An error is a test whose fixture failed, or a file that could not be read.
        "failed": len(stats.get("failed", [])) + len(stats.get("error", [])),
        "skipped": len(skipped),
    }
    return [
        *(f"1 failed as expected: {report.wasxfail}" for report in stats.get("xfailed", [])),
        *(f"{count} skipped: {reason}" for reason, count in reasons.most_common()),
        ", ".join(f"{count} {outcome}" for outcome, count in counted.items()),
    ]


def _reason(report: Any) -> str:
    """Why a test was skipped: the third of file, line and message."""
    return str(report.longrepr[2]).removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Print the closing lines after everything that pytest prints itself."""
    yield
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or session.config.option.collectonly:
        return
    for line in closing_lines(reporter.stats):
        reporter.write_line(line)
