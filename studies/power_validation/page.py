# SPDX-License-Identifier: GPL-2.0-or-later
"""``docs/results/power-validation.md``: every known error of the power models, as tables.

The tables come only from committed records of ``power-models/``, and the words from notes. The
drawings show measured rows, so they are drawn only on machines with the measurements. Elsewhere the
committed drawings stay.
"""

from __future__ import annotations

from host.cache import write_atomic
from power.counted import CALIBRATED
from power.measurements import VARIABLE, measurements_folder
from power.records import CalibrationRecord
from studies.notes import PAGES, page_of
from studies.power_validation import calibrated, others
from studies.power_validation.scaling import scaling
from studies.power_validation.stated import stated_parts

NAME = "power-validation"
PAGE = PAGES / f"{NAME}.md"


def write() -> str:
    """Write the page (and its drawings, if the measurements are there); returns a line about it."""
    figures = PAGES / NAME
    drawn = "figures kept: " + f"{VARIABLE} names no folder"
    if measurements_folder() is not None:
        # matplotlib takes a second, and only who has the measurements draws.
        from studies.power_validation import figures as drawing  # noqa: PLC0415

        figures.mkdir(parents=True, exist_ok=True)
        drawing.draw(calibrated.CORE, figures)
        drawn = "figures drawn"
    write_atomic(PAGE, page_of(NAME, parts()).encode())
    return f"{PAGE}: written; {drawn}"


def parts() -> dict[str, str]:
    """Markdown by the names that the notes use."""
    record = CalibrationRecord.read(CALIBRATED / f"{calibrated.CORE}.json")
    law = scaling()
    tables = {
        "models": calibrated.models(record),
        "factors": calibrated.factors(record),
        "alternatives": calibrated.alternatives(record),
        "by-opp": calibrated.by_opp(record),
        "worst-workloads": calibrated.worst_workloads(record),
        "scaling.summary": law.summary,
        "scaling.points": law.points,
        "scaling.anew": law.anew,
        "expressions": others.expressions(),
        "levels": others.levels(),
        "shared": others.shared(),
        "measured": others.measured(),
    }
    return {
        "rows": str(record.inputs.rows),
        "data": record.inputs.data,
        "data-sha256": record.inputs.data_sha256[:16],
        "left-out-error": f"{record.errors.leaving_workloads_out.mape:.2f} %",
        "scaling.goal": law.goal,
        "scaling.beyond": law.beyond,
        "scaling.leakage": f"{100 * law.leakage:.2f} %",
        "measured.errors": others.mean_errors(),
        **{name: "\n".join(lines).rstrip() for name, lines in tables.items()},
        **stated_parts(),
    }
