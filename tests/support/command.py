# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope`` as a person starts it: a process of its own."""

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from eascope.experiments.cli.main import main
from tests.support.repo import REPO
from tests.support.waiting import call

EASCOPE = [sys.executable, "-m", "eascope.experiments.cli.main"]
RUN = ["run", "--platform", "juno-r2", "--variant", "mainline", "--scenario", "smoke"]
COMPARE = ["compare", "mainline", "cas", "--platform", "juno-r2", "--scenario", "smoke"]


def eascope(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``eascope`` with ``arguments`` and ``env`` added to the environment.

    What it boots is there before it starts (``tests/support/artefacts.py``).

    :raises AssertionError: when it built a kernel, which its test did not say that it needs.
    """
    done = call([*EASCOPE, *arguments], {**os.environ, **env})
    built = re.search(r"^  kernel ([^\s,]+), .* \.\.\.", done.stderr, re.MULTILINE)
    assert not built, f"mark the test with pytest.mark.kernels({built[1]!r})" if built else ""
    return done


def json_of(*arguments: str, **env: str) -> Any:
    """What a command that ends well prints with ``--json``."""
    done = eascope(*arguments, "--json", **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ran(
    scenario: str | Path,
    *more: str,
    platform: str | Path = "juno-r2",
    variant: str = "mainline",
    **env: str,
) -> dict[str, Any]:
    """What ``eascope run --json`` prints of a scenario."""
    words = ("run", "--platform", str(platform), "--variant", variant, "--scenario", str(scenario))
    result: dict[str, Any] = json_of(*words, *more, **env)
    return result


def inside(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What `eascope` does, in this process: nothing is imported anew."""
    out, err = io.StringIO(), io.StringIO()
    code: object
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([*arguments])
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess([*arguments], code, out.getvalue(), err.getvalue())


def output_of(*arguments: str, code: int = 0) -> str:
    """What a command prints, in this process, that ends with ``code``."""
    done = inside(*arguments)
    assert done.returncode == code, done.stderr
    return done.stdout


def json_inside(*arguments: str) -> Any:
    """What a command prints with ``--json``, in this process."""
    return json.loads(output_of(*arguments, "--json"))


def refused(*arguments: str) -> str:
    """The one line with which a command refuses its arguments, which is all that it prints."""
    done = inside(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("eascope: error: ").strip()


def portable(text: str) -> str:
    """What a command printed, as a snapshot has it: of any host, with any Python."""
    for path, name in ((os.environ["EASCOPE_RUNS"], "RUNS"), (str(REPO), "REPO")):
        text = text.replace(path, name)
    chosen = r"(?<=\(choose from )[^)]*"  # without quotes since Python 3.12
    return re.sub(chosen, lambda found: found[0].replace("'", ""), text)


def changed(arguments: list[str], option: str, value: str) -> list[str]:
    """``arguments`` with another ``value`` of ``option``."""
    position = arguments.index(option) + 1
    return [*arguments[:position], value, *arguments[position + 1 :]]
