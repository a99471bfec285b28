"""`doctord forecast`: what will be violated, and when."""

from pathlib import Path
from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Alert, Horizon, Json, Measured, OfFiles, Thresholds, WhatIf, flag, takes
from doctord.errors import UserError
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
    scaling: Annotated[Path | None, takes("CSV")("Users and throughput of a load test: where it peaks.")] = None,
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
    from doctord.report.capacity import forecast as words
    from doctord.report.capacity import saturation as words_of_saturation

    source, changes, horizon_s = measured.source(files), what_if.changes(), parse_duration(horizon)
    if saturation or scaling:
        if alert or (measured.paths and not saturation):
            raise UserError("--alert is of thresholds, and --scaling reads one file", "leave out what is not meant")
        looked_at = source if saturation else None
        held = saturating.saturated(looked_at, thresholds, horizon_s, changes, Terminal(), points=scaling)
        return show(held, words_of_saturation, json=json)
    found = forecasting.forecast(source, thresholds, horizon_s, changes, Terminal())
    return show(found, words, json=json, alerts=forecasting.alerts(found, alert) if alert else None)
