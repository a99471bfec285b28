"""`doctord thresholds`: limits set while all is well, and who violates them now."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Alert, Json, Measured, OfFiles, Thresholds, Until, When, file, length, moment
from doctord.printable import note
from doctord.report.files import check_new, write
from doctord.units import parse_duration

thresholds = typer.Typer(no_args_is_help=True, help="Set limits while all is well, and see who violates them.")
app.add_typer(thresholds, name="thresholds")


@command(thresholds)
def check(
    *,
    measured: Measured,
    thresholds: Thresholds = None,
    since: Annotated[str | None, moment("Start: 2026-11-20T10:00Z; of a lake -1d if not said.", "--from")] = None,
    until: Until = None,
    files: OfFiles,
    alert: Alert = None,
    json: Json = False,
) -> int:
    """Say which thresholds and service levels are violated now, which were, and for how long.

    Of files now is their end; those of several hosts are judged host by host, the worst first.

    Exit status: 0 none is violated now, 1 some are, 2 nothing was measured that they speak of, or a wrong option.
    """
    from doctord.app.capacity import thresholds as checking
    from doctord.report.capacity import thresholds as words

    found = checking.check(measured.source(files), When(since, until).interval(), thresholds, Terminal())
    return show(found, words, json=json, alerts=checking.alerts(found, alert) if alert else None)


@command(thresholds)
def init(
    *,
    measured: Measured,
    since: Annotated[str | None, moment("Start of the good time: 2026-11-01; of a lake -28d.", "--from")] = None,
    until: Until = None,
    files: OfFiles,
    hold: Annotated[str, length("How long a limit must be passed to be violated.")] = "1h",
    output: Annotated[Path | None, file("Write it there.", "-o", "--output")] = None,
) -> None:
    """Propose thresholds from a time that you declare good, as a TOML file with the reason of each.

    Exit status: 0 written, 2 nothing was measured, or a wrong option.
    """
    from doctord.app.capacity import thresholds as checking
    from doctord.report.capacity import thresholds_toml

    check_new(output, "thresholds")
    source, interval = measured.source(files), When(since, until).interval()
    found = checking.proposed(source, interval, parse_duration(hold), Terminal())
    text = thresholds_toml.render(found.proposals, found.since, found.until)
    if output is None:
        typer.echo(text, nl=False)
        return
    write(output, text)
    note(f"{thresholds_toml.brief(found.proposals)} in {output}")
