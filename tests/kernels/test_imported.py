# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope series import``: each form of a source, and what is refused without a trace."""

import base64
import gzip
import json
import quopri
import re
import shutil
from pathlib import Path

import pytest

from eascope.experiments.cli.main import main
from eascope.host.errors import RequestError
from eascope.kernels import variants
from eascope.kernels.mails import read_patches
from eascope.kernels.patch_series import series_patches
from eascope.kernels.variants import load_catalogue
from tests.support.command import output_of
from tests.support.toy_linux import git

#: A kernel as far as the build asks: make writes the configuration and compiles one file.
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 117
allnoconfig:
\tcp $(KCONFIG_ALLCONFIG) $(O)/.config
olddefconfig:
\ttrue
.PHONY: kernel/sched/
kernel/sched/:
\t$(CC) -c -o $(O)/fair.o kernel/sched/fair.c
\tmkdir -p $(O)/kernel/sched
\techo ' ../kernel/sched/fair.c' >$(O)/kernel/sched/.fair.o.cmd
"""
FAIR = "".join(f"int line_{number};\n" for number in range(1, 30))
BASE = (
    "Subject: [PATCH] base\n\n---\n--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n"
    "@@ -25,3 +25,3 @@\n int line_25;\n-int line_26;\n+int based;\n int line_27;\n"
)
NAMES = ["0001-sched-fair-Five.patch", "0002-sched-fair-Fifteen-and-more.patch"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Series and ``variants.toml`` of a toy kernel, which lies in ``linux``."""
    (tmp_path / "series/base").mkdir(parents=True)
    (tmp_path / "series/base/series").write_text("0001-base.patch\n")
    (tmp_path / "series/base/0001-base.patch").write_text(BASE)
    text = variants.VARIANTS.read_text()
    kernel = text[text.index("[kernel.base]") : text.index("[kernel.feec]")]
    mainline = text[text.index("[variant.mainline]") : text.index("[variant.cas]")]
    (tmp_path / "variants.toml").write_text(f"{kernel}{mainline}\n# The end.\n")
    source = tmp_path / "linux"
    (source / "kernel/sched").mkdir(parents=True)
    (source / "Makefile").write_text(MAKEFILE)
    (source / "kernel/sched/fair.c").write_text(FAIR)
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KERNEL_SRC", str(source))
    monkeypatch.setattr(variants, "SERIES", tmp_path / "series")
    monkeypatch.setattr("eascope.kernels.kconfig.SERIES", tmp_path / "series")
    # A toy has no options, and Debian's source to compare it with would be fetched.
    monkeypatch.setattr("eascope.kernels.kconfig.released", lambda _: None)
    monkeypatch.setattr("eascope.kernels.build.SERIES", tmp_path / "series")
    monkeypatch.setattr(variants, "VARIANTS", tmp_path / "variants.toml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def author(home: Path) -> Path:
    """The author's git tree: `start`, and two commits on top of it."""
    tree = home / "author"
    shutil.copytree(home / "linux", tree)
    git(home, "init", "--quiet", "--initial-branch=main", str(tree))
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message=start")
    git(tree, "tag", "start")
    for subject, old, new in (("Five", "line_5", "five"), ("Fifteen, and more", "line_15", "x")):
        file = tree / "kernel/sched/fair.c"
        file.write_text(file.read_text().replace(f"{old};", f"{new};"))
        git(tree, "commit", "--quiet", "--all", f"--message=sched/fair: {subject}\n\nFrom here.")
    return tree


def posted(author: Path, version: int = 1) -> list[str]:
    """The mails of the series: cover letter and patches, answering it."""
    out = author.parent / f"posted-{version}"
    how = ["--cover-letter", "--thread", f"-v{version}", "--from=Jörg <j@localhost>"]
    git(author, "format-patch", "--quiet", *how, "-o", str(out), "start..main")
    return [file.read_text() for file in sorted(out.iterdir())]


def reply(mail: str, text: str) -> str:
    """An answer that quotes ``mail`` and says ``text``."""
    head, _, body = mail.partition("\n\n")
    ident = re.findall(r"^Message-Id: (.*)$", head, re.MULTILINE | re.IGNORECASE)[0]
    subject = re.findall(r"^Subject: (.*)$", head, re.MULTILINE)[0]
    quoted = "".join(f"> {line}\n" for line in body.splitlines())
    return (
        "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: R <r@localhost>\n"
        f"Subject: Re: {subject}\nMessage-ID: <answer-{len(text)}@r>\nIn-Reply-To: {ident}\n\n"
        f"On Monday J wrote:\n{quoted}\n{text}\n"
    )


def mbox(file: Path, mails: list[str]) -> Path:
    """The mails as lore's archive has them."""
    marked = [re.sub(r"\AFrom .*\n", "", mail) for mail in mails]
    start = "From mboxrd@z Thu Jan  1 00:00:00 1970\n"
    file.write_text("\n".join(start + mail for mail in marked))
    return file


def imported(*arguments: object) -> int:
    return main(["series", "import", *map(str, arguments), "--no-compile"])


def state(home: Path) -> dict[str, bytes]:
    """All that an import may write."""
    files = [*(home / "series").rglob("*"), *(home / "own").rglob("*"), home / "variants.toml"]
    return {str(file): file.read_bytes() for file in files if file.is_file()}


def test_an_mbox_gives_the_newest_version_without_cover_letter_and_replies(
    home: Path, author: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = posted(author)
    file = author / "kernel/sched/fair.c"
    file.write_text(file.read_text().replace(" x;", " fifteen;"))
    git(author, "commit", "--quiet", "--all", "--amend", "--no-edit")
    cover, first, second = posted(author, 2)
    other = "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1 +1 @@\n-int a;\n+int b;\n"
    answers = [reply(first, "No."), reply(second, f"Rather so:\n\n---\n{other}")]
    answers.append(answers[0].replace("Subject: Re: ", "Subject: "))
    thread = mbox(home / "t.mbox", [*answers[1:], cover, second, *old, answers[0], first])
    assert imported(thread, "--name", "mine") == 0
    patches = series_patches(home / "series/mine")
    assert [patch.name for patch in patches] == NAMES
    assert "+int fifteen;" in patches[1].read_text(), "of the newest version"
    assert not any("int b;" in patch.read_text() for patch in patches)
    head = patches[0].read_text().partition("\n\n")[0].splitlines()
    assert head[0] == f"From {'0' * 40} Mon Sep 17 00:00:00 2001"
    assert head[3] == "Subject: [PATCH] sched/fair: Five"
    assert "\n\nFrom here.\n---\n" in patches[0].read_text()
    output = capsys.readouterr().out
    assert "eascope compare mainline mine --platform juno-r2" in output
    assert 'base = "mainline"\n' in (home / "own/mine.toml").read_text()


def test_each_form_of_a_source_gives_the_same_patches(home: Path, author: Path) -> None:
    git(author, "format-patch", "--quiet", "--cover-letter", "-o", str(home / "out"), "start..main")
    thread = mbox(home / "t.mbox", posted(author))
    packed = home / "t.mbox.gz"
    packed.write_bytes(gzip.compress(thread.read_bytes()))
    plain = read_patches(f"{author}@start..main")
    assert list(plain) == NAMES
    assert b"From: me <me@localhost>\n" in plain[NAMES[0]]
    for other in (home / "out", thread, packed):
        assert read_patches(str(other)) == plain


def test_a_series_file_names_every_patch_and_its_place(home: Path, author: Path) -> None:
    """A diff, a mail without a prefix and mails with other numbers; comments and options."""
    folder = home / "quilt"
    folder.mkdir()
    _, first, second = posted(author)
    hunks = git(author, "diff", "main~2", "main~").partition("@@")[2]
    names = ["--- linux.orig/kernel/sched/fair.c\t2026", "+++ linux/kernel/sched/fair.c\t2026"]
    (folder / "zz-first.patch").write_text("\n".join(["Why.", "", *names, f"@@{hunks}", ""]))
    (folder / "suse").mkdir()
    (folder / "suse/second").write_text(re.sub(r"\[PATCH.*?\] ", "", second))
    (folder / "left-out.patch").write_text(first)
    order = folder / "series"
    order.write_text("# of quilt\n\nzz-first.patch -p1\nsuse/second # why\n")
    plain = read_patches(f"{author}@start..main").values()
    read = read_patches(str(folder))
    assert [*read] == ["0001-zz-first.patch", "0002-sched-fair-Fifteen-and-more.patch"]
    for mine, git_s in zip(read.values(), plain, strict=True):
        assert mine[mine.index(b"diff --git") :] == git_s[git_s.index(b"diff --git") :]
    assert b"\nFrom: unknown <unknown@unknown.invalid>\n" in read["0001-zz-first.patch"]
    assert b"\n\nWhy.\n" in read["0001-zz-first.patch"]
    assert imported(folder, "--name", "mine") == 0
    (folder / "zz-first.patch").write_text(second)
    (folder / "suse/second").write_text(first)
    assert [b"Fifteen" in patch for patch in read_patches(str(folder)).values()] == [True, False]
    (folder / "empty").write_text("Subject: nothing\n\n")
    for line, words in (
        ("x.patch", "line 1 = 'x.patch': no such file"),
        ("zz-first.patch -R", "line 1 = 'zz-first.patch -R': allowed: a file, then -p0 or -p1"),
        ("empty", "line 1 = 'empty': it changes nothing"),
        ("# none", "its file series names no patch"),
    ):
        order.write_text(line)
        with pytest.raises(RequestError, match=re.escape(words)):
            read_patches(str(folder))


def test_a_diff_among_numbered_patches_is_not_dropped(home: Path, author: Path) -> None:
    folder = home / "some"
    folder.mkdir()
    _, first, _ = posted(author)
    (folder / "0001-five.patch").write_text(first)
    (folder / "more.patch").write_text("diff --git" + first.partition("\ndiff --git")[2])
    with pytest.raises(RequestError, match=r"more\.patch has no place among patches with numbers"):
        read_patches(str(folder))
    (folder / "0001-five.patch").write_text(first.replace("[PATCH 1/2]", "[PATCH v2]"))
    with pytest.raises(RequestError, match=r"has no place .* of another version"):
        read_patches(str(folder))


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_a_mail_may_be_encoded(home: Path, author: Path, encoding: str) -> None:
    [plain, _] = read_patches(f"{author}@start..main").values()
    head, _, body = posted(author)[1].partition("\n\n")
    encode = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}[encoding]
    head = re.sub(r"^Content-.*\n", "", head, flags=re.MULTILINE)
    head = re.sub(
        r"^Subject: .*$", "Subject: =?UTF-8?q?[RFC_v3]_sched/fair:_F=C3=BCnf?=", head, flags=re.M
    )
    head += f"\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: {encoding}"
    mail = f"{head}\n\n{encode(body.encode()).decode()}\n"
    thread = mbox(home / "t.mbox", [mail])
    # As a mail program saves it; lines end with CR and LF, before they are encoded and after.
    saved = home / "saved/mine.eml"
    saved.parent.mkdir()
    lines = encode(body.replace("\n", "\r\n").encode()).decode()
    mail = re.sub(r"\AFrom .*\n", "", f"{head}\n\n{lines}\n")
    saved.write_bytes(mail.replace("\n", "\r\n").encode())
    for source in (thread, saved, saved.parent):
        read = read_patches(str(source))
        assert list(read) == ["0001-sched-fair-F-nf.patch"]
        assert read["0001-sched-fair-F-nf.patch"].decode() == plain.decode().replace("Five", "Fünf")


def test_a_mail_without_a_line_from_is_a_mail(home: Path, author: Path) -> None:
    [plain, _] = read_patches(f"{author}@start..main").values()
    saved = home / "mine.eml"
    mail = re.sub(r"\AFrom .*\n", "", posted(author)[1]).replace(" 1/2]", "]")
    for text in (mail, mail.replace("\n", "\r\n")):
        saved.write_bytes(text.encode())
        assert list(read_patches(str(saved)).values()) == [plain]


def test_a_folder_may_have_a_part_of_a_series(home: Path, author: Path) -> None:
    posted(author)
    (home / "posted-1/v1-0001-sched-fair-Five.patch").unlink()
    assert list(read_patches(str(home / "posted-1"))) == [NAMES[1].replace("0002", "0001")]


def test_an_imported_series_is_registered_as_a_variant(home: Path, author: Path) -> None:
    before = (home / "variants.toml").read_bytes()
    assert imported(f"{author}@start..main", "--name", "mine") == 0
    assert imported(f"{author}@start..main~1", "--name", "early", "--onto", "plain") == 0
    load_catalogue.cache_clear()
    catalogue = load_catalogue(home / "variants.toml")
    assert catalogue.broken == {}
    assert catalogue.kernels["mine"].series == ("base", "mine")
    assert catalogue.kernels["early"].series == ("early", "base")
    assert catalogue.variants["mine"].switches == catalogue.variants["mainline"].switches
    assert (home / "variants.toml").read_bytes() == before


def test_a_folder_may_have_a_fragment_and_a_patch_no_effect(
    home: Path, author: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "mine").mkdir()
    git(author, "format-patch", "--quiet", "-o", str(home / "mine"), "start..main")
    (home / "mine/config").write_text("# CONFIG_FIELD is not set\nCONFIG_A=y\n")
    assert imported(home / "mine", "--name", "mine", "--json") == 0
    assert json.loads(capsys.readouterr().out)["options"]["without_effect"] is False
    assert (home / "series/mine/config").read_text().endswith("CONFIG_A=y\n")
    (home / "mine/config").write_text("A=y\n")
    assert imported(home / "mine", "--name", "other") == 2
    message = capsys.readouterr().err
    assert "config: line 1 = 'A=y': allowed: CONFIG_NAME=VALUE" in message
    git(author, "checkout", "--quiet", "-b", "words")
    (author / "Documentation").mkdir()
    (author / "Documentation/x.rst").write_text("Words.\n")
    git(author, "add", ".")
    git(author, "commit", "--quiet", "--message=Documentation: Words")
    assert imported(f"{author}@main..words", "--name", "words", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["options"]["without_effect"] is True
    assert "warning: words builds the same kernel as its base" in err


def test_the_scheduler_is_compiled(
    home: Path, author: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["series", "import", f"{author}@start..main", "--json", "--name", "mine"]
    plain = json.loads(output_of(*command))
    assert plain["compiled"] is True
    assert plain["not_compiled"] == []
    file = author / "kernel/sched/fair.c"
    void = "#ifdef CONFIG_DESKTOP_TWEAKS\nint tweaked;\n#endif\n"
    file.write_text(f"{file.read_text()}{void}")
    git(author, "commit", "--quiet", "--all", "--message=void")
    capsys.readouterr()
    assert main([*command[:-1], "void"]) == 0
    out, err = capsys.readouterr()
    said = "CONFIG_DESKTOP_TWEAKS: no Kconfig of this tree declares it, code for it is not compiled"
    assert json.loads(out)["not_compiled"] == [f"{said} (kernel/sched/fair.c)"]
    assert f"  warning: {said} (kernel/sched/fair.c)\n" in err
    file.write_text(file.read_text().replace("int five;", "int five"))
    git(author, "commit", "--quiet", "--all", "--message=broken")
    before = state(home)
    assert main(["series", "import", f"{author}@start..main", "--name", "broken"]) == 1
    assert "fair.c:5" in capsys.readouterr().err
    assert state(home) == before


@pytest.mark.parametrize("onto", ["base", "plain"])
def test_a_patch_that_does_not_apply_names_patch_file_and_hunk(
    home: Path, author: Path, capsys: pytest.CaptureFixture[str], onto: str
) -> None:
    file = home / "linux/kernel/sched/fair.c"
    file.write_text(FAIR.replace("line_14", "another"))
    before = state(home)
    assert imported(f"{author}@start..main", "--name", "mine", "--onto", onto) == 2
    message = capsys.readouterr().err
    assert f"mine/{NAMES[1]} does not apply to Linux 6.12.117" in message
    assert "kernel/sched/fair.c: hunk 1 at line 12:" in message
    assert message.endswith("nothing was written\n")
    assert state(home) == before


@pytest.mark.parametrize("onto", ["base", "plain"])
def test_onto_says_which_is_applied_first(home: Path, author: Path, onto: str) -> None:
    file = author / "kernel/sched/fair.c"
    git(author, "checkout", "--quiet", "start")
    file.write_text(FAIR.replace("line_26", "based").replace("line_28", "after"))
    git(author, "commit", "--quiet", "--all", "--message=made against base")
    git(author, "tag", "with-base")
    (home / "posted").mkdir()
    git(author, "format-patch", "--quiet", "-o", str(home / "posted"), "start..with-base")
    patch = next((home / "posted").glob("*.patch"))
    text = patch.read_text().replace("-int line_26;\n+int based;\n", " int based;\n")
    patch.write_text(text)
    assert (
        imported(home / "posted", "--name", "mine", "--onto", onto) == {"base": 0, "plain": 2}[onto]
    )


def test_a_wrong_request_is_one_line_and_writes_nothing(
    home: Path, author: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cover, first, second = posted(author)
    whole = mbox(home / "whole", [cover, first, second])
    lone = mbox(home / "lone", [cover, reply(first, "No.")])
    half = mbox(home / "half", [cover, second])
    far = mbox(home / "far", [second.replace("2/2]", "153/373]")])
    odd = home / "odd.eml"
    odd.write_text(re.sub(r"\AFrom .*\n", "", second).replace("2/2]", "2/26]"))
    changed = second.replace("+int x;", "+int y;")
    twice = mbox(home / "twice", [first, second, changed])
    (home / "words").write_text("no mail\n")
    (home / "nil").write_text("")
    (home / "short.gz").write_bytes(gzip.compress(whole.read_bytes())[:-20])
    (home / "empty").mkdir()
    (home / "order").mkdir()
    (home / "order/series").write_text("# of quilt\n\nx.patch -p1\n")
    (home / "letter").mkdir()
    (home / "letter/0000-cover-letter.patch").write_text(cover + second.partition("\n\n")[2])
    (home / "series/orphan").mkdir()
    git(author, "checkout", "--quiet", "-b", "side", "start")
    git(author, "commit", "--quiet", "--allow-empty", "--message=side")
    git(author, "merge", "--quiet", "--no-edit", "main")
    before = state(home)
    for source, more, words in (
        (whole, ["--name", "mainline"], "--name 'mainline': name 'mainline': allowed: a name of"),
        (whole, ["--name", "base"], "that no kernel or variant has"),
        (whole, ["--name", "Mine"], "allowed: a name of lower-case letters"),
        (whole, ["--name", "orphan"], "series/orphan already exists; choose another name"),
        (whole, [], "--name X is missing"),
        (whole, ["--name", "x", "--onto", "feec"], "feec"),
        (whole, ["--name", "x", "--release", "5.4"], "5.4"),
        (whole, ["--name", "x", "--release", "7.3"], "is Linux 6.12.117;"),
        (lone, ["--name", "x"], "no patch in its 2 mails"),
        (
            half,
            ["--name", "x"],
            "v1 lacks 1 of 2 patches (1); expected a whole series, or a directory",
        ),
        (far, ["--name", "x"], "v1 lacks 372 of 373 patches (1-152, 154-373)"),
        (odd, ["--name", "x"], "v1 lacks 25 of 26 patches (1, 3-26)"),
        (twice, ["--name", "x"], "patch 2/2 of v1 appears twice"),
        (home / "words", ["--name", "x"], "no patch in its 1 mails"),
        (home / "nil", ["--name", "x"], "git reads no mail there"),
        (home / "short.gz", ["--name", "x"], "short.gz"),
        (home / "empty", ["--name", "x"], "no file *.patch or *.eml"),
        (home / "order", ["--name", "x"], "line 3 = 'x.patch -p1': no such file"),
        (home / "letter", ["--name", "x"], "no patch in its 1 mails"),
        (home / "nothing", ["--name", "x"], "no such file"),
        (f"{author}@main", ["--name", "x"], "range 'main'"),
        (f"{author}@start...main", ["--name", "x"], "range 'start...main'"),
        (f"{author}@start..nowhere", ["--name", "x"], "'nowhere' is no commit"),
        (f"{home / 'empty'}@a..b", ["--name", "x"], "'a' is no commit"),
        (f"{author}@main..start", ["--name", "x"], "no patch in its 0 mails"),
        (f"{author}@start..side", ["--name", "x"], "the range contains a merge"),
    ):
        assert imported(source, *more) == 2, words
        message = capsys.readouterr().err
        assert words in message
        assert message.count("\n") == 1, message
        assert state(home) == before, words


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_import_that_is_interrupted_leaves_nothing(
    home: Path, author: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def interrupted(path: Path, data: bytes) -> None:
        raise error

    before = state(home)
    monkeypatch.setattr("eascope.kernels.imported.write_atomic", interrupted)
    assert imported(f"{author}@start..main", "--name", "mine") in (1, 130)
    assert state(home) == before
    assert [path.name for path in (home / "series").iterdir()] == ["base"]
