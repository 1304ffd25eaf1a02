# SPDX-License-Identifier: GPL-2.0-or-later
"""Each fault of a small source, as the lines that it makes."""

import pytest

from tests.mutants.operators import faults

TOY = """\
#define LIMIT (1 + 1)
struct toy {
	int field;
};

/* if (this is no code && nothing) { */
static int toy(struct rq *rq, int cpu)
{
	int room = rq->room + rq->spare;

%s
}
"""


def made(body: str) -> set[tuple[str, str]]:
    """Each fault of ``body`` in a function: its name, and the body then."""
    text = TOY % body
    found = set()
    for fault in faults(text):
        faulty = fault.applied(text)
        assert faulty.count("\n") == text.count("\n"), fault
        lines = faulty.splitlines()
        if lines[: TOY[: TOY.index("%s")].count("\n")] == text.splitlines()[: TOY.count("\n") - 2]:
            found.add((fault.operator, "\n".join(lines[10:-1])))
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "\tif (a && !b)\n\t\treturn x;",
            {
                ("negate", "\tif (!(a && !b))\n\t\treturn x;"),
                ("branch", "\tif (0 && (a && !b))\n\t\treturn x;"),
                ("and/or", "\tif (a || !b)\n\t\treturn x;"),
                ("term", "\tif (a )\n\t\treturn x;"),
                ("term", "\tif ( !b)\n\t\treturn x;"),
            },
        ),
        (
            "\treturn a ||\n\t       f(b == c, d) || e;",
            {
                ("and/or", "\treturn a &&\n\t       f(b == c, d) || e;"),
                ("and/or", "\treturn a ||\n\t       f(b == c, d) && e;"),
                ("term", "\treturn\n\t       f(b == c, d) || e;"),
                ("term", "\treturn a \n|| e;"),
                ("term", "\treturn a ||\n\t       f(b == c, d) ;"),
                ("compare", "\treturn a ||\n\t       f(b != c, d) || e;"),
            },
        ),
        (
            "\tx = a + b * c - d;",
            {
                ("statement", "\t;"),
                ("term", "\tx = a - d;"),
                ("term", "\tx = a + b * c;"),
            },
        ),
        ("\tx = min(a, b);", {("statement", "\t;"), ("min/max", "\tx = max(a, b);")}),
        (
            "\tx = max_t(int, a, b);",
            {("statement", "\t;"), ("min/max", "\tx = min_t(int, a, b);")},
        ),
        ("\treturn a < b;", {("compare", "\treturn a <= b;")}),
        ("\treturn a >= b;", {("compare", "\treturn a > b;")}),
        ("\treturn a >> 3;", {("off by one", "\treturn a >> 4;")}),
        ("\treturn false;", {("true/false", "\treturn true;")}),
        (
            "\tuse(cpu_rq(cpu));",
            {("call", "\t;"), ("other CPU", "\tuse(this_rq());")},
        ),
        ("\tstruct rq *own = task_rq(p);", {("other CPU", "\tstruct rq *own = this_rq();")}),
        ("\tlockdep_assert_rq_held(rq);\n\tWARN_ON_ONCE(rq);", set()),
        ("\tupdate_decay(rq);", {("decay", "\t;")}),
        ("\treturn decay_load(sum, periods);", {("decay", "\treturn (sum);")}),
        (
            "\tif (a)\n\t\trq->n++;",
            {
                ("negate", "\tif (!(a))\n\t\trq->n++;"),
                ("branch", "\tif (0 && (a))\n\t\trq->n++;"),
                ("statement", "\tif (a)\n\t\t;"),
            },
        ),
        ('\tu64 now;\n\tchar *text = "a && b";', set()),
    ],
)
def test_faults(body: str, expected: set[tuple[str, str]]) -> None:
    assert made(body) == expected
