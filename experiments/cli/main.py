# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope``: the command line.

Exit codes: 0 done, 1 the work failed, 2 the request is wrong, 130 interrupted. An error is one line
on stderr; a failed command adds the end of its log. With ``EASCOPE_DEBUG``, errors of the operating
system end with a traceback.

Only this file is imported before interrupts are caught. So an interrupt in the first tenth of a
second also ends in one line.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

PROGRAM = "eascope"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the exit code."""
    try:
        code = _main(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print(f"\n{PROGRAM}: interrupted; the same command continues", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be said to them.
        _close_stdout()
        return 0
    except OSError as error:
        if os.environ.get("EASCOPE_DEBUG"):
            raise
        print(f"{PROGRAM}: error: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        _close_stdout()
        return 1


def _main(arguments: list[str]) -> int:
    """The command's exit code, or that of the error with which it ended."""
    import shlex
    import signal

    from eascope.experiments.cli.verbs import VERBS, make_parser
    from eascope.host.errors import Again, EascopeError, nearest
    from eascope.host.proc import say

    signal.signal(signal.SIGTERM, _interrupt)
    parser = make_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in VERBS:
        name = arguments[0]
        parser.error(
            f"unknown command {name!r}{nearest(name, VERBS)}; expected one of {', '.join(VERBS)}"
        )
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()  # of --help, while a closed pipe is still looked after
        raise
    if options.command is None:
        parser.print_help()
        return 2
    options.repeat = shlex.join([PROGRAM, *arguments])
    while True:
        try:
            return VERBS[options.command].run(options)
        except Again as again:
            say(f"  {again}")
        except EascopeError as error:
            print(f"{PROGRAM}: error: {error}", file=sys.stderr)
            return error.exit_code


def _close_stdout() -> None:
    """Prevent further writes: Python flushes once again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt(number: int, frame: object) -> NoReturn:
    """SIGTERM ends a command as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
