"""`doctord report`: a time examined, or what runs out, as one HTML file."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import Terminal, app, command, status
from doctord.cli.arguments import Horizon, Json, Measured, OfFiles, Past, Thresholds, WhatIf, When, file, flag
from doctord.errors import UserError
from doctord.printable import for_output, json_text
from doctord.report.files import check_writable, write
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.app.asked import Interval
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
    if not capacity:
        if csv or thresholds or what_if != WhatIf():
            raise UserError("--csv, --thresholds and what-ifs are for reports on capacity", "give --capacity as well")
        return _on_a_time(source, when.interval(past), output, json=json)
    if when.since or when.until:
        raise UserError("--capacity looks at all that is kept", "leave --from and --to out")
    if json and csv:
        raise UserError("either --json or --csv", "give one of them: only one document is printed")
    from doctord.app.capacity.action_plan import ahead
    from doctord.report.capacity import html
    from doctord.report.capacity import report as words

    horizon_s, changes = parse_duration(horizon), what_if.changes()
    check_writable(output)
    found = ahead(source, thresholds, horizon_s, changes, Terminal())
    document = words.document(found)
    write(output, html.render(found.action_plan, document, datetime.now(UTC)))
    if csv:
        typer.echo(for_output(words.csv_of(document)), nl=False)
    else:
        typer.echo(json_text(document) if json else f"{words.verdict(document)}\n{output}")
    return status(found.healthy)


def _on_a_time(source: "Files | Recorded", asked: "Interval", output: Path, *, json: bool) -> int:
    from doctord.app.diagnose import diagnose
    from doctord.report.diagnosis import examination as words

    check_writable(output)
    found = diagnose(source, asked, Terminal())
    write(output, words.page(found))
    typer.echo(json_text(words.document(found)) if json else f"{words.brief(found)}\n{output}")
    return status(found.healthy)
