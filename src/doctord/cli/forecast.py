"""`doctord forecast`: what will be violated, and when."""

from pathlib import Path
from typing import Annotated

import typer

from doctord.cli import app, command
from doctord.cli._kinds import flag
from doctord.cli._output import Terminal, status
from doctord.cli.arguments import Alert, Horizon, Json, Measured, OfFiles, Thresholds, WhatIf
from doctord.errors import UserError
from doctord.printable import json_text
from doctord.units import parse_duration


@command(app)
def forecast(
    *,
    measured: Measured,
    thresholds: Thresholds = None,
    horizon: Horizon = "90d",
    what_if: WhatIf,
    saturation: Annotated[
        bool, flag("How far CPUs, disks and databases are from saturation, by queueing.", "--saturation")
    ] = False,
    scaling: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Users and throughput of a load test: where it peaks.")
    ] = None,
    files: OfFiles,
    alert: Alert = None,
    json: Json = False,
) -> int:
    """Say which thresholds will be violated, when, and how sure that is.

    Files of several hosts are forecast host by host, the worst first, each over all its time.

    Exit status: 0 none within the horizon, 1 some are or will be, 2 nothing can be told, or a wrong option.
    """
    from doctord.app.capacity import forecast as forecasting
    from doctord.app.capacity import saturation as saturating
    from doctord.report.capacity import forecast as capacity_forecast
    from doctord.report.capacity import hosts
    from doctord.report.capacity import saturation as capacity_saturation

    source, changes, horizon_s = measured.source(files), what_if.changes(), parse_duration(horizon)
    said = [change.text for change in changes]
    if saturation or scaling:
        if alert or (measured.paths and not saturation):
            raise UserError("--alert is of thresholds, and --scaling reads one file", "leave out what is not meant")
        looked_at = source if saturation else None
        found = saturating.saturated(looked_at, thresholds, horizon_s, changes, Terminal(), points=scaling)
        document = capacity_saturation.document_of(found.resources, found.databases, horizon_s, said)
        typer.echo(json_text(document) if json else capacity_saturation.render(document))
        return status(found.healthy)
    ahead = forecasting.forecast(source, thresholds, horizon_s, changes, Terminal())
    if alert:
        typer.echo(forecasting.alerts(ahead, alert))
    else:
        documents = [
            (
                host,
                capacity_forecast.document_of(one.items, horizon_s, said, one.history_s, one.now, sizes=one.sizes),
            )
            for host, one in ahead.each
        ]
        page = json_text(hosts.document_of(documents)) if json else None
        typer.echo(page or hosts.render(documents, capacity_forecast.render, ahead.unjudged))
    return status(ahead.healthy)
