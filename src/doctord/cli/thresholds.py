"""`doctord thresholds`: limits set while all is well, and who violates them now."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import Day, Every, LakeDir, Paths, Refusal, Unit, Zone, parse_duration, said

thresholds = typer.Typer(no_args_is_help=True, help="Set limits while all is well, and see who violates them.")
app.add_typer(thresholds, name="thresholds")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Until = Annotated[str | None, typer.Option("--to", metavar="MOMENT", help="End, likewise; else now, or the last row.")]


class Alert(StrEnum):
    """Forms of alerts."""

    PROMETHEUS = "prometheus"
    ALERTMANAGER = "alertmanager"


@thresholds.command()
def check(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--thresholds", metavar="FILE", help="Thresholds and service levels (default: the built-in ones)."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="MOMENT", help="Start: 2026-11-20T10:00Z; of a lake -1d if not said."),
    ] = None,
    until: Until = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    alert: Annotated[Alert | None, typer.Option(help="Print alerts in this form instead.")] = None,
    json: AsJson = False,
) -> None:
    """Say which thresholds and service levels are violated now, which were, and for how long.

    Exit status: 0 none is violated now, 1 some are, 2 nothing was measured that they speak of, or a wrong option.
    """
    with said():
        from doctord.app.thresholds import Asked
        from doctord.app.thresholds import check as check_thresholds
        from doctord.cli import _thresholds
        from doctord.cli._sources import source_of, span, told
        from doctord.cli._terminal import Terminal

        asked = Asked(source_of(paths, lake, told(zone, day, every, unit)), *span(since, until), parse_duration("1d"))
        found = check_thresholds(asked, file, Terminal())
        typer.echo(_thresholds.alerts(found, alert.value) if alert else _thresholds.page(found, json=json))
        raise typer.Exit(_thresholds.status(found))


@thresholds.command()
def init(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="MOMENT", help="Start of the good time: 2026-11-01; of a lake -28d.")
    ] = None,
    until: Until = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    hold: Annotated[str, typer.Option(metavar="LENGTH", help="How long a limit must be passed to be violated.")] = "1h",
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it there.")] = None,
) -> None:
    """Propose thresholds from a time that you declare good, as a TOML file with the reason of each.

    Exit status: 0 written, 2 nothing was measured, or a wrong option.
    """
    with said():
        from doctord.app.thresholds import Asked, proposed
        from doctord.cli import _thresholds
        from doctord.cli._sources import source_of, span, told
        from doctord.cli._terminal import Terminal

        if output and output.exists():
            raise Refusal(
                f"{output} is there already", "thresholds that somebody keeps are not overwritten: name another"
            )
        asked = Asked(source_of(paths, lake, told(zone, day, every, unit)), *span(since, until), parse_duration("28d"))
        _thresholds.put(proposed(asked, parse_duration(hold), Terminal()), output)
