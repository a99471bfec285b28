"""`doctord study-factors`: several things were varied, and what did each of them do."""

from pathlib import Path
from typing import Annotated, Literal

from doctord.cli import app, command, show
from doctord.cli.arguments import Json, argument, flag, name


@command(app, "study-factors")
def study_factors(
    *,
    table: Annotated[
        Path, argument("A CSV of runs, in their order: a column for each factor, and one of results.", "TABLE")
    ],
    result: Annotated[str, name("The column of what came of each run: a time, a rate.")],
    factor: Annotated[list[str] | None, name("A column that was varied (default: all of few levels).")] = None,
    better: Annotated[
        Literal["low", "high"] | None, flag("Which results are good (default: as the name says).")
    ] = None,
    json: Json = False,
) -> int:
    """Say what each of several factors did to the result of runs, and which two act together.

    An effect is a ratio with its interval, the other factors held as they were. What the runs do not tell apart,
    because it changed together, is named.

    Exit status: 0 effects were told, 2 chance cannot be told from them, or a wrong option.
    """
    from doctord.app.study.factors import of_table
    from doctord.report.study import factors

    return show(of_table(table, result, factor or (), better), factors, json=json)
