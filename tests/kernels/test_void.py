# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches without effect: each way is named, and the code of kernels that do the same is equal."""

import subprocess
from pathlib import Path

import pytest

from eascope.host.toolchain import arm64_tool
from eascope.kernels.code import code_digest, object_digest
from eascope.kernels.patch_series import CONFIG
from eascope.kernels.void import not_compiled
from eascope.kernels.worktree import OUT

FAIR = "kernel/sched/fair.c"
#: A file of a kernel before the patch; `DEBUG` is on, `NUMA` off.
BEFORE = """\
int a;
#ifdef CONFIG_NUMA
int numa;
#else
int flat;
#endif
#if defined(CONFIG_DEBUG) /* and no module */
int debug;
#elif defined(CONFIG_NUMA)
int other;
#else
int quiet;
#endif
int z;
"""


def patched(tmp_path: Path, after: str, file: str = FAIR, config: str = "") -> list[str]:
    """What is said of a series that makes ``after`` of `BEFORE`, or adds another file."""
    tree, series = tmp_path / "linux", tmp_path / "mine"
    out = tree / OUT / "kernel/sched"
    out.mkdir(parents=True)
    series.mkdir()
    (tree / OUT / ".config").write_text("CONFIG_DEBUG=y\n# CONFIG_NUMA is not set\n")
    (out / ".fair.o.cmd").write_text(
        f"deps_fair.o := \\\n  ../{FAIR} \\\n  ../kernel/sched/fair.h\n"
    )
    (tree / "init").mkdir()
    (tree / "init/Kconfig").write_text("config DEBUG\n\tbool\nmenuconfig NUMA\nconfig HIDDEN\n")
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text(after)
    (tmp_path / "old").write_text(BEFORE if file == FAIR else "")
    how = ["diff", "-u", "--label", f"a/{file}", "--label", f"b/{file}"]
    how += [str(tmp_path / "old"), str(tree / file)]
    text = subprocess.run(how, capture_output=True, text=True, check=False).stdout
    (series / "0001-mine.patch").write_text(text or "rename from a\n")
    (series / "series").write_text("0001-mine.patch\n")
    if config:
        (series / CONFIG).write_text(config)
    return not_compiled(tree, [series])


OFF = "CONFIG_NUMA is off: code for it is not compiled (kernel/sched/fair.c)"
ON = "CONFIG_DEBUG is on: code for its absence is not compiled (kernel/sched/fair.c)"
UNKNOWN = OFF.replace("NUMA is off:", "DESKTOP_TWEAKS: no Kconfig of this tree declares it,")
ZERO = "#if 0: code under it is not compiled (kernel/sched/fair.c)"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "int a;",
            "#ifdef CONFIG_DESKTOP_TWEAKS\nint b;\n#endif",
            UNKNOWN,
        ),
        ("int a;", "#if IS_ENABLED(CONFIG_NUMA)\nint b;\n#endif", OFF),
        ("int a;", "int a = IS_ENABLED(CONFIG_NUMA);", OFF),
        ("int a;", "#ifdef CONFIG_HIDDEN\nint b;\n#endif", OFF.replace("NUMA", "HIDDEN")),
        ("int numa;", "int numa = 1;", OFF),
        ("int other;", "int more;", ON),
        ("int quiet;", "int quieter;", ON),
        ("int a;", "#if 0\nint b;\n#endif", ZERO),
        ("int z;", "#if defined(MODULE) && defined(CONFIG_NUMA)\nint b;\n#endif", OFF),
        ("int z;", "#if defined(MODULE) || defined(CONFIG_NUMA)\nint b;\n#endif", ""),
        # What is compiled, or what may be: nothing is said.
        ("int flat;", "int flat = 1;", ""),
        ("int debug;", "int debug = 1;", ""),
        ("int a;", "#ifndef CONFIG_NUMA\nint b;\n#endif", ""),
        ("int a;", "#if defined(CONFIG_DEBUG) || \\\n\tdefined(CONFIG_NUMA)\nint b;\n#endif", ""),
        ("int a;", "#if CONFIG_HZ > 100 && defined(CONFIG_NUMA)\nint b;\n#endif", ""),
        ("int z;", "int z = !IS_ENABLED(CONFIG_NUMA);", ""),
    ],
)  # fmt: skip
def test_code_for_an_option_that_is_off_is_named(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    lines = patched(tmp_path, BEFORE.replace(old, new))
    assert lines[:1] == [said] * bool(said)


def test_a_file_that_nothing_is_built_from_is_named(tmp_path: Path) -> None:
    assert patched(tmp_path, "int x;\n", "drivers/x.c") == ["drivers/x.c: nothing is built from it"]


def test_a_makefile_and_a_fragment_may_ask_for_an_option_that_is_off(tmp_path: Path) -> None:
    makefile = "obj-$(CONFIG_NUMA) += numa.o\nobj-$(CONFIG_DEBUG) += debug.o\n"
    assert patched(tmp_path, makefile, "mm/Makefile", "# CONFIG_TYPO is not set\n") == [
        OFF.replace(FAIR, "mm/Makefile"),
        "CONFIG_TYPO: no Kconfig of this tree declares it, code for it is not compiled (config)",
    ]


#: As `WARN()` of arm64 does, with a line and a local symbol that is named by it.
CODE = """\
#define NAMED_(line) static int at_##line __attribute__((used, section(".init.data"))) = 1
#define NAMED(line) NAMED_(line)
NAMED(__LINE__);
extern int other(int);
int warn(int value)
{
    asm volatile("1: brk 0x800\\n"
                 ".pushsection .rodata.str,\\"aMS\\",%%progbits,1\\n2: .string \\"fair.c\\"\\n"
                 ".popsection\\n.pushsection __bug_table,\\"aw\\"\\n.align 2\\n"
                 "3: .long 1b - 3b\\n.long 2b - .\\n.short %c0\\n.short %c1\\n.popsection"
                 :: "i"(__LINE__), "i"(9));
    return other(value) + VALUE;
}
"""


def compiled(tmp_path: Path, text: str, value: int = 1) -> str:
    (tmp_path / "x.c").write_text(text)
    how = [str(arm64_tool("gcc")), "-c", "-O2", "-g", f"-DVALUE={value}", "-o", "x.o", "x.c"]
    subprocess.run(how, cwd=tmp_path, check=True)
    return object_digest((tmp_path / "x.o").read_bytes())


def test_lines_are_no_code_and_all_else_is(tmp_path: Path) -> None:
    plain = compiled(tmp_path, CODE)
    assert compiled(tmp_path, f"/* A comment.\n */\n\n{CODE}") == plain
    others = {
        plain,
        compiled(tmp_path, CODE, 2),
        compiled(tmp_path, CODE.replace("other(", "another(")),
        compiled(tmp_path, CODE.replace("fair.c", "rt.c")),
        compiled(tmp_path, CODE.replace('"i"(9)', '"i"(8)')),
        compiled(tmp_path, CODE.replace("brk 0x800", "brk 0x801")),
        compiled(tmp_path, CODE.replace("int warn", "static int __attribute__((used)) warn")),
        compiled(tmp_path, CODE.replace("= 1", "= 2")),
        compiled(tmp_path, f"{CODE}int more[2];\n"),
    }
    assert len(others) == 9


def test_the_code_is_that_of_all_objects_but_for_the_kernels_name(tmp_path: Path) -> None:
    objects = ("kernel/fair.o", "kernel/sys.o", "lib/bug.o", "arch/arm64/lib/page.o")
    for name in objects:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
        text = "deps := include/generated/utsrelease.h\n" if name == "kernel/sys.o" else ""
        command = (tmp_path / name).with_name(f".{Path(name).name}.cmd")
        command.write_text(f"source_{name} := sys.c\n{text}")
    (tmp_path / "sys.c").write_text("")
    for archive, some in (
        ("vmlinux.a", objects[:2]),
        ("lib/lib.a", objects[2:3]),
        ("arch/arm64/lib/lib.a", objects[3:]),
    ):
        subprocess.run([arm64_tool("ar"), "rcT", archive, *some], cwd=tmp_path, check=True)
    codes = [code_digest(tmp_path)]
    (tmp_path / "kernel/stale.o").write_text("of another kernel")
    (tmp_path / "kernel/sys.o").write_text("another name")
    assert code_digest(tmp_path) == codes[0]
    linked = "arch/arm64/kernel/vmlinux.lds"
    (tmp_path / linked).parent.mkdir(parents=True)
    for name in ("kernel/fair.o", "lib/bug.o", "arch/arm64/lib/page.o", "sys.c", linked):
        (tmp_path / name).write_text("changed")
        codes.append(code_digest(tmp_path))
    assert len(set(codes)) == len(codes)
