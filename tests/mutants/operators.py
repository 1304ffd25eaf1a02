# SPDX-License-Identifier: GPL-2.0-or-later
"""Small faults in C text in the kernel's style. No fault adds or takes away a line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """``text[start:end]`` becomes ``new``; ``at`` is where the faulty part begins."""

    operator: str
    at: int
    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """The faulty text."""
        return text[: self.start] + self.new + text[self.end :]


#: Comments, strings, characters, and lines of the preprocessor.
_NO_CODE = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE,
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
#: What ends an operand of `&&` or of `||`, of `+`, `-` and `|`.
_ENDS = {
    "&&": re.compile(r"&&|\|\||[?:;,{}]|(?<![=!<>])=(?!=)|\breturn\b"),
    "||": re.compile(r"\|\||[?:;,{}]|(?<![=!<>])=(?!=)|\breturn\b"),
    "+": re.compile(r"[?:;,{}]|\s(?:[-+|&^<>]|<<|>>|&&|\|\||[-+*/|&<>=!]=|=)\s"),
}
_SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
#: Calls that name a CPU or its runqueue, and those of the CPU that runs.
_HERE = {
    **dict.fromkeys(("cpu_rq", "task_rq", "rq_of"), "this_rq()"),
    **dict.fromkeys(("task_cpu", "cpu_of"), "raw_smp_processor_id()"),
}
#: Calls that may go; without an assertion a kernel does what it did.
_CALL = re.compile(
    r"(?!(?:if|for|while|switch|return|sizeof|guard|lockdep_assert\w*|\w*(?:WARN|BUG)_ON\w*)\()\w+\("
)
_SETS = re.compile(r"[*\w][\w>.\-\[\]()*&]*\s*(?:(?:[-+*/|&^]|<<|>>)?=(?!=)|\+\+|--)|\+\+|--")


def code_of(text: str) -> str:
    """``text`` with blanks for all that is no code, so that places stay."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _pairs(code: str) -> dict[int, int]:
    """The place of the other bracket, for each of a pair."""
    pairs, begun = {}, []
    for place, letter in enumerate(code):
        if letter in _CLOSES:
            begun.append(place)
        elif letter in ")]}" and begun and _CLOSES[code[begun[-1]]] == letter:
            pairs[place] = begun.pop()
            pairs[pairs[place]] = place
    return pairs


class _Text:
    def __init__(self, text: str) -> None:
        self.text, self.code = text, code_of(text)
        self.pairs = _pairs(self.code)

    def end(self, place: int, ends: re.Pattern[str]) -> int:
        """Where the operand ends that begins at ``place``."""
        while place < len(self.code):
            if self.code[place] in "([":
                place = self.pairs.get(place, len(self.code))
            elif self.code[place] in ")]" or ends.match(self.code, place):
                return place
            place += 1
        return place

    def begin(self, place: int, ends: re.Pattern[str]) -> int:
        """Where the operand begins that ends before ``place``."""
        while place > 0:
            if self.code[place - 1] in ")]":
                place = self.pairs.get(place - 1, 0)
                continue
            if self.code[place - 1] in "([":
                return place
            for length in (1, 2, len("return")):
                match = ends.match(self.code, max(0, place - length))
                if match and match.end() == place:
                    return place
            place -= 1
        return place

    def without(self, start: int, end: int) -> str:
        """The newlines of a part: what stays of it."""
        return "\n" * self.text.count("\n", start, end)


def faults(text: str) -> Iterator[Fault]:
    """Every fault of `text`, a file of C."""
    of = _Text(text)
    for find in (_conditions, _logic, _terms, _words, _numbers, _calls, _statements):
        yield from find(of)


def _conditions(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(r"\bif \(", of.code):
        start = match.end() - 1
        if end := of.pairs.get(start, -1) + 1:
            condition = of.text[start:end]
            yield Fault("negate", match.start(), start, end, f"(!{condition})")
            yield Fault("branch", match.start(), start, end, f"(0 && {condition})")


def _logic(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(r"&&|\|\|", of.code):
        sign, start, end = match[0], match.start(), match.end()
        yield Fault("and/or", start, start, end, "||" if sign == "&&" else "&&")
        right = of.end(end, _ENDS[sign])
        yield Fault("term", _first(of, end), start, right, of.without(start, right))
        left = of.begin(start, _ENDS[sign])
        if not of.code.endswith(sign, 0, left):  # else it is the right one of the operator before
            yield Fault("term", _first(of, left), left, end, of.without(left, end))


def _first(of: _Text, place: int) -> int:
    """The first letter of code from ``place`` on."""
    blanks = re.compile(r"\s*").match(of.code, place)
    return blanks.end() if blanks else place


def _terms(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(r"(?<=[\w)\]])\s+([-+|])\s+(?=[\w(*&~-])", of.code):
        end = of.end(match.end(), _ENDS["+"])
        kept = of.without(match.start(), end)
        yield Fault("term", match.start(1), match.start(), end, kept)


def _words(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(r"\b(min|max)(?=(?:_t|3)?\()", of.code):
        new = "max" if match[1] == "min" else "min"
        yield Fault("min/max", match.start(), *match.span(1), new)
    for match in re.finditer(r"(?<=[\w)\]]) ([<>]=?|[=!]=) ", of.code):
        yield Fault("compare", match.start(1), *match.span(1), _SWAPPED[match[1]])
    for match in re.finditer(r"\b(?:true|false)\b", of.code):
        new = "false" if match[0] == "true" else "true"
        yield Fault("true/false", match.start(), *match.span(), new)


def _numbers(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(r"(?<![\w.])(\d+)(?=[UL]*\b(?!\.))", of.code):
        yield Fault("off by one", match.start(), *match.span(1), str(int(match[1]) + 1))


def _calls(of: _Text) -> Iterator[Fault]:
    for match in re.finditer(rf"(?<=[\s(!])({'|'.join(_HERE)})\(", of.code):
        if end := of.pairs.get(match.end() - 1, -1) + 1:
            yield Fault("other CPU", match.start(), match.start(), end, _HERE[match[1]])
    for match in re.finditer(r"(?:[=(,+!<>&|-]|\breturn)\s*(\w*decay\w*)\(", of.code):
        comma = of.end(match.end(), re.compile(","))
        end = of.pairs.get(match.end() - 1, -1) + 1
        if of.code.startswith(",", comma) and end:
            new = f"({of.text[match.end() : comma]})" + of.without(comma, end)
            yield Fault("decay", match.start(1), match.start(1), end, new)


def _statements(of: _Text) -> Iterator[Fault]:
    """What stands between ends of statements, in a function, and declares nothing."""
    bodies = [
        (start, of.pairs.get(start, 0))
        for match in re.finditer(r"^\{|\bTP_fast_assign\(", of.code, re.MULTILINE)
        for start in [match.end() - 1]
    ]
    before = r"(?:[;{})]|:[ \t]*\n|\b(?:else|do)\b)\s*"
    for match in re.finditer(rf"{before}(?=[*\w+-])", of.code):
        start = match.end()
        end = of.end(start, re.compile("[;{}]"))
        if not of.code.startswith(";", end) or not any(a < start < b for a, b in bodies):
            continue
        statement = of.code[start:end]
        if _CALL.match(statement) and of.pairs.get(of.code.find("(", start)) == end - 1:
            operator = "decay" if "decay" in statement.partition("(")[0] else "call"
        elif _SETS.match(statement):
            operator = "statement"
        else:
            continue
        yield Fault(operator, start, start, end, of.without(start, end))
