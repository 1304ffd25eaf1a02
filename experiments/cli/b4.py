# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope check --b4``: a series as b4's check commands give it, and the answer that they want.

b4 0.16 gives a command one mail on stdin, in the top folder of the git tree. Those of ``b4 review``
get the cover letter, or the first patch where there is none, and read a JSON array; the series is
in the review branch that the file in ``B4_TRACKING_FILE`` names. Those of ``b4 prep`` and ``b4 am``
get each patch, and take every line of output for a warning, or with ``ERROR:`` for an error.
"""

from __future__ import annotations

import argparse
import email
import io
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from eascope.host.errors import EascopeError, RequestError, unknown

#: What is read and printed; the first is the default.
FORMS = ("review", "prep")
TRACKING = "B4_TRACKING_FILE"
PASS, WARN, FAIL = "pass", "warn", "fail"
Entry: TypeAlias = dict[str, str]


def answer(options: argparse.Namespace, check: Callable[[argparse.Namespace], Entry]) -> int:
    """Check the series on stdin, and print what b4 wants.

    :param check: gives the entry of the series that the options name.
    :raises RequestError: an unknown form; whatever else is wrong is part of the answer.
    """
    form = options.b4 or FORMS[0]
    if form not in FORMS:
        raise unknown("--b4", form, FORMS)
    if options.series is not None or options.dry_run:
        raise RequestError("--b4 reads the series from stdin; it takes neither WHAT nor --dry-run")
    with TemporaryDirectory(prefix="eascope-") as folder, redirect_stderr(io.StringIO()):
        try:
            options.series = _series(sys.stdin.buffer.read(), Path(folder), form)
            answered = check(options)
        except EascopeError as error:
            answered = _failed(error)
    if form == FORMS[0]:
        print(json.dumps([answered]))
    elif answered["status"] != PASS:
        print(f"{'ERROR: ' * (answered['status'] == FAIL)}{answered['summary']}")
    return 0


def _series(mails: bytes, folder: Path, form: str) -> str:
    """What ``eascope check`` takes as WHAT for what b4 has given.

    :raises RequestError: a single mail that does not say of which series it is.
    """
    (series := folder / "series").mkdir()
    single = len(re.findall(rb"^From \S+ .*\d{4}$", mails, re.MULTILINE)) < 2
    head = email.message_from_bytes(mails)
    ident = str(head.get("Message-ID", "")).strip(" \t<>")
    place = re.search(r"\b(\d+)/(\d+)\]", str(head.get("Subject", "")))
    if form == FORMS[0] and single and place and place.groups() != ("1", "1"):
        if branch := _review_branch():
            return branch
        if not ident:
            raise RequestError("stdin: a part of a series without Message-ID and review branch")
        return f"<{ident}>"
    # A folder may hold a part of a series; an mbox may not.
    file = series / ("0001-mail.eml" if single else "mbox")
    file.write_bytes(mails)
    return str(series if single else file)


def _review_branch() -> str:
    """The commits of the series in b4's review branch; empty where there is none."""
    try:
        series = json.loads(Path(os.environ[TRACKING]).read_bytes())["series"]
        # The branch's last commit has no change: it is what b4 tracks.
        return f"{series['first-patch-commit']}~1..b4/review/{series['change-id']}~1"
    except (KeyError, OSError, ValueError, TypeError):
        return ""


def _failed(error: EascopeError) -> Entry:
    """The entry of a check that could not be done.

    A series that nothing measures passes; one that does not compile fails.
    """
    from eascope.experiments.topics import NotMeasured

    wrong = isinstance(error, RequestError)
    status = PASS if isinstance(error, NotMeasured) else WARN if wrong else FAIL
    summary, _, details = str(error).partition("\n")
    return entry(status, summary, details)


def entry(status: str, summary: str, details: str = "", url: str = "") -> Entry:
    """An entry of the array that ``b4 review`` reads."""
    texts = {"status": status, "summary": summary, "url": url, "details": details}
    return {"tool": "eascope", **texts}
