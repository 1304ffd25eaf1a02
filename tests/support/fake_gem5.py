# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that speaks as gem5 does when it runs our scripts, and ends as it is asked to.

``fake_gem5.py HOW gem5's-arguments..``; simulates nothing.
"""

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

VERSIONS = {"old": "23.1.0.0", "new": "25.1.0.0"}
#: What one row of the fake's window holds.
COLUMNS = ("cluster", "cpu", "t0_ns", "t1_ns", "khz", "uv", "cycles", "instructions", "dram_pj")
TRACE = bytes(range(256)) * 4
#: Where the agent's pieces begin; the first comes last, as the agent sends it.
PIECES = (512, 768, 0)


def say(text: str) -> None:
    print(f"eascope: {text}", flush=True)


def banner(how: str) -> None:
    if how == "other":
        print("usage: some other program")
        raise SystemExit(2)
    print(f"gem5 Simulator System.\n\ngem5 version {VERSIONS.get(how, '24.0.0.1')}")


def boot(request: dict[str, Any]) -> None:
    state = Path(request["checkpoint_out"])
    state.mkdir(parents=True)
    (state / "m5.cpt").write_text(json.dumps(request["machine"], sort_keys=True))
    (state / "memory.pmem").write_bytes(b"\1\2\3" * 1000)
    say("progress 70000000 99000000")
    say("part boot 1.500 1.250")
    say(f"ended checkpoint {state}")


def window(out: Path, request: dict[str, Any]) -> None:
    script = Path(request["script"]).read_bytes()
    assert (Path(request["checkpoint_in"]) / "m5.cpt").is_file()
    for name, mono in ((2, 1000), (3, 901_000)):
        (out / f"mark-{name}").write_text(str(mono))
    for begin, end in zip(PIECES, (768, 1024, 512), strict=True):
        (out / f"trace.dat@{begin}").write_bytes(TRACE[begin:end])
    (out / "state.txt@0").write_bytes(script)
    (out / "stats.txt").write_text("hostSeconds 1.23\nsimSeconds 0.0009\nhostMemory 5\n")
    rows: list[tuple[float, ...]] = []
    for cluster in request["machine"]["clusters"]:
        for cpu in (*cluster["cpus"], -1):
            khz = cluster["clocks_hz"][0] / 1000
            rows.append(
                (cluster["index"], cpu, 71e6 + 0.9, 71.9e6 + 0.5, khz, 1e6, 900e3, 800e3, 0)
            )
    rows.append((-1, -2, 71e6 + 0.9, 71.9e6 + 0.5, 0, 0, 0, 0, 12.5))
    data = b"".join(struct.pack(f"={len(COLUMNS)}d", *row) for row in rows)
    (out / "rows.bin").write_bytes(data)
    record = {
        "schema": 1,
        "columns": COLUMNS,
        "rows": len(rows),
        "marks": [[2, 71_000_000], [3, 71_900_000]],
        "transitions": {cluster["name"]: [None, 0] for cluster in request["machine"]["clusters"]},
        "instructions": 800_000,
    }
    (out / "rows.json").write_text(json.dumps(record))


def run(how: str, out: Path, request: dict[str, Any]) -> None:
    (out / "system.terminal").write_text("hello from the guest\n")
    print("gem5 Simulator System.", file=sys.stderr, flush=True)
    say("progress 70500000 100000")
    say("part warmup 0.500 0.375")
    if how == "hang":
        time.sleep(1000)
    if how == "talk":
        (out / "pid").write_text(str(os.getpid()))
        while True:
            say("progress 70500000 100000")
            time.sleep(0.1)
    if how == "fatal":
        print("src/base.cc:1: fatal: no such parameter", file=sys.stderr)
        raise SystemExit(1)
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "full":
        print("OSError: [Errno 28] No space left on device", file=sys.stderr)
        raise SystemExit(1)
    if how == "fail":
        (out / "fail-reason").write_text("script line 7: expect x: found 'a', wanted 'b'")
        say("ended fail code 1")
    elif how == "panic":
        with (out / "system.terminal").open("a") as console:
            console.write("[    0.1] Kernel panic - not syncing: Attempted to kill init!\n")
        say("ended panic Kernel panic in simulated system.")
    elif how in ("stall", "limit"):
        say(f"ended {how} no CPU has committed an instruction for 20000 ms")
    elif how == "windowless":
        (out / "exit-code").write_text("0")
        say("ended exit at 71 ms")
    else:
        window(out, request)
        (out / "exit-code").write_text("3" if how == "exit 3" else "0")
        say("progress 72000000 800000")
        say("part window 0.250 0.125")
        say("part collect 0.125 0.0625")
        say("ended exit at 72 ms")


def main() -> None:
    how, arguments = sys.argv[1], sys.argv[2:]
    assert arguments[:2] == ["--listener-mode=off", "-d"], arguments
    if arguments[3:] == ["-c", "pass"]:
        banner(how)
        return
    assert Path(arguments[3]).name == "run.py"
    request = json.loads(Path(arguments[4]).read_text())
    if request["mode"] == "boot":
        if how == "no checkpoint":
            say("ended checkpoint nowhere")
            return
        boot(request)
    else:
        run(how, Path(arguments[2]), request)


if __name__ == "__main__":
    main()
