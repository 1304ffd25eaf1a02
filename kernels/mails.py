# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches as people post them: an mbox, a mail, a folder of them, commits of a tree.

git splits an mbox and reads mails, as ``git am`` does. Only mails with a patch of the series'
newest version are taken; cover letters and replies are left out. A plain diff, as of quilt or of
``git diff``, becomes a mail of an unknown author whose subject is the name of the file.
"""

from __future__ import annotations

import email
import email.policy
import gzip
import re
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eascope.host.errors import RequestError
from eascope.host.proc import CommandFailed, need, run
from eascope.kernels.diffs import as_git
from eascope.kernels.patch_series import changes_something

ALLOWED = (
    "an mbox, a mail or a diff, a folder of such files (*.patch, *.eml), or "
    "TREE@A..B, commits of a git tree"
)
#: Spans of missing patches that are named.
SPANS = 8
#: git's own length of a subject in the name of a patch's file.
SUBJECT_LENGTH = 52
#: No setting of a person changes what is read.
_PLAIN = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
_BRACKETS = re.compile(r"((?:\[[^\]]*\]\s*)*)(.*)", re.DOTALL)
#: What git ends a mail with, its version. No line of a hunk begins with a digit.
_SIGNATURE = re.compile(rb"\n-- \n\d[^\n]*\s*\Z")
_GZIP = b"\x1f\x8b"
_BASE = re.compile(rb"^base-commit: (\S+)", re.MULTILINE)
_DIFF = b"\ndiff --git "
#: Where quilt and dpkg-source say which patches of a folder there are, and in which order.
_ORDER = "series"


@dataclass(frozen=True)
class Mail:
    """A mail with a patch.

    :param version: of its series: 2 for ``[PATCH v2 3/7]``.
    :param number: its place in the series; 0: the subject does not say.
    :param total: patches of the series; 0: the subject does not say.
    :param answers: the mail that it answers; patches of a series answer a mail, too.
    :param patch: as ``git format-patch`` writes it, without numbers of the series and of blobs.
    """

    subject: str
    version: int
    number: int
    total: int
    ident: str
    answers: str
    patch: bytes


def read_patches(text: str) -> dict[str, bytes]:
    """The patches of ``text``, in order, by the names of their files in a series.

    :raises RequestError: it names nothing that can be read, no patch, or an incomplete series.
    """
    path = Path(text).expanduser()
    with tempfile.TemporaryDirectory() as folder:
        if (path / _ORDER).is_file():
            chosen = _in_order(path, text, Path(folder))
        elif path.is_dir():
            chosen = _series(text, _of_folder(path, text, Path(folder)), whole=False)
        else:
            place = Path(folder)
            files = _of_mbox(path, text, place) if path.is_file() else _of_commits(text, place)
            mails = [mail for file in files if (mail := _read_mail(file))]
            if not mails:
                raise RequestError(
                    f"{text!r}: no patch in its {len(files)} mails; expected {ALLOWED}"
                )
            # An archive that lacks a patch is broken.
            chosen = _series(text, mails, whole=True)
    return {
        f"{number:04}-{_as_file(mail.subject)}.patch": mail.patch
        for number, mail in enumerate(chosen, start=1)
    }


def base_commit(text: str) -> str:
    """What the mails or patches of ``text`` were made on, as their last ``base-commit:`` has it.

    Cover letters count. Empty where none states it, or ``text`` is neither a file nor a folder.
    """
    path = Path(text).expanduser()
    files = [path] if path.is_file() else sorted(path.glob("*.patch")) + sorted(path.glob("*.eml"))
    stated = [name for file in files for name in _BASE.findall(_content(file, text))]
    return stated[-1].decode() if stated else ""


def _of_folder(path: Path, text: str, folder: Path) -> list[Mail]:
    """The mails with a patch that somebody chose, by the names of their files."""
    files = sorted(file for end in ("patch", "eml") for file in path.glob(f"*.{end}"))
    if not files:
        raise RequestError(f"{text!r}: no file *.patch or *.eml; expected {ALLOWED}")
    mails: list[Mail] = []
    count = 0
    unnumbered: list[str] = []
    for number, file in enumerate(files):
        content, place = _content(file, text), folder / f"{number:06}"
        place.mkdir()
        (place / "mail").write_bytes(
            _as_mail(file, content) if file.suffix == ".patch" else content
        )
        split = _split([place / "mail"], place)
        count += len(split)
        read = [mail for each in split if (mail := _read_mail(each))]
        mails += read
        if file.suffix == ".patch":
            unnumbered += [file.name for mail in read if not mail.total]
    if not mails:
        raise RequestError(f"{text!r}: no patch in its {count} mails; expected {ALLOWED}")
    if unnumbered and len({(mail.version, bool(mail.total)) for mail in mails}) > 1:
        raise RequestError(
            f"{text!r}: {unnumbered[0]} has no place among patches with numbers or of another "
            f"version; give the order of all in a file {_ORDER}"
        )
    return mails


def _in_order(path: Path, text: str, folder: Path) -> list[Mail]:
    """The patches that quilt's file of a folder names, one for each line."""
    mails = []
    for number, line in enumerate((path / _ORDER).read_text("utf8", "replace").split("\n"), 1):
        name, *options = line.partition("#")[0].split() or [""]
        if not name:
            continue
        where = f"{text!r}: {_ORDER}: line {number} = {line.strip()!r}"
        if options not in ([], ["-p0"], ["-p1"]):
            raise RequestError(f"{where}: allowed: a file, then -p0 or -p1")
        if not (path / name).is_file():
            raise RequestError(f"{where}: no such file")
        (folder / "mail").write_bytes(_as_mail(path / name, _content(path / name, text)))
        mail = _read_mail(folder / "mail", int(options[0][2:]) if options else None)
        if mail is None:
            raise RequestError(f"{where}: it changes nothing that patch(1) can change")
        mails.append(mail)
    if not mails:
        raise RequestError(f"{text!r}: its file {_ORDER} names no patch")
    return mails


def _as_mail(file: Path, content: bytes) -> bytes:
    """``content`` as the mail of a patch, if it is a diff or has another subject."""
    content = content.replace(b"\r\n", b"\n")
    if not changes_something(content):
        return content
    head = email.message_from_bytes(content, policy=email.policy.default)
    mail = _is_mail(content)
    subject = " ".join(str(head["Subject"] or "").split())
    sender = b"" if mail else b"From: unknown <unknown@unknown.invalid>\n"
    if not subject:
        name = re.sub(r"^\d+-|[-_]+", " ", file.stem).strip() or "patch"
        line = f"Subject: [PATCH] {name}\n".encode(errors="replace")
        return content if mail else sender + line + b"\n" + content
    if _prefix(subject)[0] is None and not re.match(r"re:", subject, re.IGNORECASE):
        content = re.sub(rb"^Subject:", b"Subject: [PATCH]", content, count=1, flags=re.I | re.M)
    return sender + content


def _is_mail(content: bytes) -> bool:
    """True if it has an author, or is an mbox; a diff has neither."""
    return content.startswith(b"From ") or "From" in email.message_from_bytes(content)


def _of_mbox(path: Path, text: str, folder: Path) -> list[Path]:
    """The mails of an mbox, compressed or not, each in a file below ``folder``."""
    content = _content(path, text)
    (folder / "mbox").write_bytes(content if _is_mail(content) else _as_mail(path, content))
    try:
        # lore's archives escape lines of mails that begin with "From " as mboxrd does.
        how = ["--mboxrd"] if content.startswith(b"From mboxrd@") else []
        return _split([folder / "mbox"], folder, *how)
    except CommandFailed as error:
        raise RequestError(f"{text!r}: git reads no mail there; expected {ALLOWED}") from error


def _content(path: Path, text: str) -> bytes:
    """The bytes of a file, decompressed."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except (OSError, EOFError, zlib.error) as error:
        raise RequestError(f"{text!r}: {error}; expected {ALLOWED}") from error


def _split(files: Sequence[Path], folder: Path, *how: str) -> list[Path]:
    """The mails in ``files``, each in a file below ``folder``, with the line ends of Unix.

    A file that does not begin with "From " is one mail, as a mail program saves it.
    """
    split = folder / "mails"
    split.mkdir()
    git("mailsplit", "-b", *how, "-d6", f"-o{split}", "--", *map(str, files))
    return sorted(split.iterdir())


def _of_commits(text: str, folder: Path) -> list[Path]:
    """``TREE@A..B`` as files of ``git format-patch`` below ``folder``."""
    parts = text.split("@")
    heads = [Path("@".join(parts[:count])).expanduser() for count in range(1, len(parts))]
    places = [count for count, head in enumerate(heads, start=1) if head.is_dir()]
    if not places:
        raise RequestError(f"{text!r}: no such file; expected {ALLOWED}")
    tree = heads[places[-1] - 1]
    span = "@".join(parts[places[-1] :])
    among = _range(text, tree, span)
    if git("-C", str(tree), "rev-list", "--merges", among).strip():
        raise RequestError(f"{text!r}: the range contains a merge; give a range without merges")
    how = ["--zero-commit", "--no-signature", "--no-numbered", "--subject-prefix=PATCH", "--binary"]
    how += ["--src-prefix=a/", "--dst-prefix=b/", "--no-ext-diff", "--no-cover-letter", "--stat=72"]
    how += ["--no-attach", "--no-thread", "--no-signoff", "--no-renames", "--no-notes"]
    git("-C", str(tree), "format-patch", "--quiet", *how, "-o", str(folder), among)
    return sorted(folder.glob("*.patch"))


def commits_of(text: str, tree: Path) -> list[tuple[str, str]]:
    """Names and subjects of the commits ``A..B`` of a git tree, oldest first, after the one below.

    A merge is one commit.

    :raises RequestError: the tree has no such commits, or there is none between them.
    """
    how = ("-C", str(tree), "log", "--format=%H %s")
    lines = git(*how, "--first-parent", "--reverse", _range(text, tree, text)).decode(
        "utf8", "replace"
    )
    if not lines:
        raise RequestError(f"{text!r}: no commit; expected A..B, where {tree} has commits after A")
    below = git(*how, "-1", f"{lines.partition(' ')[0]}^").decode("utf8", "replace")
    return [(line[:40], line[41:]) for line in f"{below}{lines}".splitlines()]


def _range(text: str, tree: Path, span: str) -> str:
    """``A..B`` by the names of both commits."""
    first, dots, last = span.partition("..")
    if not (first and dots and last) or last.startswith("."):
        raise RequestError(f"{text!r}: range {span!r}; expected A..B, two commits of {tree}")
    return "..".join(_commit(text, tree, name) for name in (first, last))


def _commit(text: str, tree: Path, name: str) -> str:
    try:
        how = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return git("-C", str(tree), *how).decode().strip()
    except CommandFailed as error:
        raise RequestError(
            f"{text!r}: {name!r} is no commit, branch or tag of the git tree {tree}"
        ) from error


def git(*arguments: str, stdin: bytes | None = None) -> bytes:
    """What git prints, whatever a person has set."""
    return run([need("git", "git"), *arguments], env=_PLAIN, stdin=stdin, label="git")


def _read_mail(file: Path, strip: int | None = None) -> Mail | None:
    """The mail in ``file`` if it has a patch; a reply never has one, whatever it quotes.

    :param strip: as `eascope.kernels.diffs.as_git`.
    """
    content = file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        message, diff = Path(folder) / "message", Path(folder) / "diff"
        how = ["mailinfo", "-k", "--no-scissors", "--quoted-cr=strip", "--encoding=UTF-8"]
        how += [str(message), str(diff)]
        try:
            facts = git(*how, stdin=content).decode(errors="replace")
        except CommandFailed:  # no mail, or one in a character set that git does not know
            return None
        body, changes = message.read_bytes(), diff.read_bytes()
    fields = dict(line.partition(": ")[::2] for line in facts.splitlines() if ": " in line)
    prefix, subject = _prefix(fields.get("Subject", ""))
    if prefix is None or not changes_something(changes):
        return None
    place = re.search(r"\b(\d+)/(\d+)", prefix)
    number, total = (int(place[1]), int(place[2])) if place else (0, 0)
    if place and number == 0:
        return None
    version = re.search(r"\bv(\d+)\b", prefix, re.IGNORECASE)
    head = email.message_from_bytes(content)
    return Mail(
        subject=subject,
        version=int(version[1]) if version else 1,
        number=number,
        total=total,
        ident=str(head.get("Message-ID", "")).strip(),
        answers=str(head.get("In-Reply-To", "")).strip(),
        patch=_patch(fields, subject, body, as_git(changes, strip)),
    )


def _prefix(subject: str) -> tuple[str | None, str]:
    """The text in brackets before a patch's subject, and the rest; None for any other mail."""
    match = _BRACKETS.fullmatch(" ".join(subject.split()))
    prefix, rest = (match[1], match[2]) if match else ("", subject)
    if re.search(r"\b(PATCH|RFC|RFT)", prefix, re.IGNORECASE) or re.search(r"\d+/\d+\]", prefix):
        return prefix, rest
    return None, rest


def _patch(fields: dict[str, str], subject: str, body: bytes, changes: bytes) -> bytes:
    head = (
        f"From {'0' * 40} Mon Sep 17 00:00:00 2001\n"
        f"From: {fields.get('Author', '')} <{fields.get('Email', '')}>\n"
        f"Date: {fields.get('Date', '')}\nSubject: [PATCH] {subject}\n\n"
    )
    above, start, diff = changes.partition(b"diff --git ")
    diff = re.sub(rb"^index \w+\.\.\w+.*\n", b"", diff, flags=re.MULTILINE)
    diff = _SIGNATURE.sub(b"\n", diff)
    dashes = b"" if changes.startswith(b"---") else b"---\n"
    return head.encode() + body + dashes + above + start + diff


def _series(text: str, mails: Sequence[Mail], *, whole: bool) -> list[Mail]:
    """The patches of the newest version among ``mails``, in order.

    :param whole: none may be missing.
    :raises RequestError: one is missing, or there are two for a place.
    """
    version = max(mail.version for mail in mails)
    newest = [mail for mail in mails if mail.version == version]
    totals = sorted({mail.total for mail in newest} - {0})
    if not totals:
        idents = {mail.ident for mail in mails if mail.ident}
        return [mail for mail in newest if mail.answers not in idents] or newest
    if len(totals) > 1:
        several = " and ".join(f"one of {total}" for total in totals)
        raise RequestError(f"{text!r}: several series of v{version}, {several}; expected one")
    places: dict[int, Mail] = {}
    for mail in newest:
        if mail.number:
            first = places.setdefault(mail.number, mail)
            if first.patch.partition(_DIFF)[2] != mail.patch.partition(_DIFF)[2]:
                raise RequestError(
                    f"{text!r}: patch {mail.number}/{totals[0]} of v{version} appears twice, and "
                    "the two differ"
                )
    missing = sorted({*range(1, totals[0] + 1)} - {*places})
    if missing and whole:
        raise RequestError(
            f"{text!r}: v{version} lacks {len(missing)} of {totals[0]} patches "
            f"({_spans(missing)}); expected a whole series, or a directory with the patches that "
            "you want (*.patch, *.eml)"
        )
    return [places[number] for number in sorted(places)]


def _spans(numbers: Sequence[int]) -> str:
    """``1-152, 154-373`` of sorted numbers."""
    ends = [number for number in numbers if number + 1 not in numbers]
    starts = [number for number in numbers if number - 1 not in numbers]
    spans = [
        str(first) if first == last else f"{first}-{last}"
        for first, last in zip(starts, ends, strict=True)
    ]
    return ", ".join(spans[:SPANS] + ["..."] * (len(spans) > SPANS))


def _as_file(subject: str) -> str:
    """``sched-fair-Count`` of ``sched/fair: Count``, as git names files."""
    plain = re.sub(r"\.+", ".", re.sub(r"[^A-Za-z0-9._]+", "-", subject))
    return plain.strip("-.")[:SUBJECT_LENGTH] or "patch"
