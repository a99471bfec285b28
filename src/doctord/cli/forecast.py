"""`doctord forecast`: what will be violated, and when."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app
from doctord.cli.arguments import (
    Addition,
    Day,
    Every,
    Growth,
    LakeDir,
    Paths,
    Refusal,
    Steps,
    Unit,
    Zone,
    parse_duration,
    said,
)
from doctord.cli.thresholds import Alert


@app.command()
def forecast(
    paths: Paths = None,
    *,
    lake: LakeDir = None,
    file: Annotated[
        Path | None, typer.Option("--thresholds", metavar="FILE", help="Thresholds, in TOML (default: Doctor D's own).")
    ] = None,
    horizon: Annotated[str, typer.Option(metavar="LENGTH", help="How far to look.")] = "90d",
    growth: Growth = None,
    step: Steps = None,
    add: Addition = None,
    saturation: Annotated[
        bool, typer.Option("--saturation", help="How far CPUs, disks and databases are from saturation, by queueing.")
    ] = False,
    scaling: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Users and throughput of a load test: where it peaks.")
    ] = None,
    zone: Zone = None,
    day: Day = None,
    every: Every = None,
    unit: Unit = None,
    alert: Annotated[Alert | None, typer.Option(help="Print alerts in this form instead.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say which thresholds will be violated, when, and how sure that is.

    Exit status: 0 none within the horizon, 1 some are or will be, 2 nothing can be told, or a wrong option.
    """
    with said():
        from doctord.app import forecast as forecasting
        from doctord.cli import _forecast
        from doctord.cli._sources import source_of, told
        from doctord.cli._terminal import Terminal

        source = source_of(paths, lake, told(zone, day, every, unit))
        changes, horizon_s = _forecast.changes(growth, step or [], add or []), parse_duration(horizon)
        if saturation or scaling:
            from doctord.app import saturation as saturating
            from doctord.cli import _saturation

            if alert or (paths and not saturation):
                raise Refusal("--alert is of thresholds, and --scaling reads one file", "leave out what is not meant")
            tested = [saturating.points_scaled(scaling)] if scaling else []
            held, scaled = (
                saturating.saturated(source, file, horizon_s, changes, Terminal()) if saturation else ([], [])
            )
            scaled += tested
            typer.echo(_saturation.page(held, scaled, horizon_s, changes, json=json))
            raise typer.Exit(_saturation.status(held, scaled))
        items = forecasting.forecast(source, file, horizon_s, changes, Terminal())
        typer.echo(
            _forecast.alerts(items, alert.value) if alert else _forecast.page(items, horizon_s, changes, json=json)
        )
        raise typer.Exit(_forecast.status(items))
