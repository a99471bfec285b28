"""`doctord report`: a time examined, or what runs out, as one HTML file."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import app, command
from doctord.cli._kinds import file, flag
from doctord.cli._output import Terminal, check_writable, conclude, status, write
from doctord.cli.arguments import Horizon, Json, Measured, OfFiles, Past, Thresholds, WhatIf, When
from doctord.errors import UserError
from doctord.printable import for_output, json_text
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.analyse.capacity.whatif import Change
    from doctord.app.source import Files, Recorded


@command(app)
def report(
    *,
    measured: Measured,
    when: When,
    past: Past = "1d",
    capacity: Annotated[bool, flag("Report what will be violated, and the plans.", "--capacity")] = False,
    horizon: Horizon = "90d",
    thresholds: Thresholds = None,
    what_if: WhatIf,
    files: OfFiles,
    output: Annotated[Path, file("File to write.", "--output", "-o")] = Path("report.html"),
    json: Json = False,
    csv: Annotated[bool, flag("Capacity: print a table for spreadsheets.", "--csv")] = False,
) -> int:
    """Write a report: one HTML file, readable offline.

    On a time that was recorded, or that files tell of: verdict, findings, plots of the evidence. With --capacity on all
    that is kept of one host: what will be violated, when, the plans against it, and what that rests on; --horizon,
    --thresholds and what-ifs are of this one.

    Exit status: 0 no finding, 1 findings, or something is or will be violated, 2 nothing can be told, or a wrong
    option.
    """
    source = measured.source(files)
    if capacity:
        if when.since or when.until:
            raise UserError("--capacity looks at all that is kept", "leave --from and --to out")
        if json and csv:
            raise UserError("either --json or --csv", "give one of them: only one document is printed")
        return _on_capacity(source, thresholds, parse_duration(horizon), what_if.changes(), output, json=json, csv=csv)
    if csv or thresholds or what_if != WhatIf():
        raise UserError("--csv, --thresholds and what-ifs are for reports on capacity", "give --capacity as well")

    from doctord.app import diagnose as diagnosing

    check_writable(output)
    return conclude(diagnosing.diagnose(source, when.interval(past), Terminal()), html=output, json=json, brief=True)


def _on_capacity(
    source: "Files | Recorded",
    thresholds: Path | None,
    horizon_s: float,
    changes: "Sequence[Change]",
    output: Path,
    *,
    json: bool,
    csv: bool,
) -> int:
    from doctord.app.capacity.action_plan import ahead
    from doctord.report.capacity import html as capacity_html
    from doctord.report.capacity import report as capacity_report

    check_writable(output)
    found = ahead(source, thresholds, horizon_s, changes, Terminal())
    said = [change.text for change in changes]
    document = capacity_report.document_of(found.action_plan, horizon_s, said, found.levels)
    write(output, capacity_html.render(found.action_plan, document, datetime.now(UTC)))
    if json:
        typer.echo(json_text(document))
    elif csv:
        typer.echo(for_output(capacity_report.csv_of(document)), nl=False)
    else:
        typer.echo(f"{capacity_report.verdict(document)}\n{output}")
    return status(found.healthy)
