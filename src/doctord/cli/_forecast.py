"""What `doctord forecast` does: history, forecasts, dates, what-ifs."""

import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from doctord.analyse.capacity import alert
from doctord.analyse.capacity.figure import Figure
from doctord.analyse.capacity.outlook import Item, outlook
from doctord.analyse.capacity.pace import at_its_pace, series_at_pace
from doctord.analyse.capacity.responses import with_loads
from doctord.analyse.capacity.series import HOUR_S, Series
from doctord.analyse.capacity.threshold import Rules
from doctord.analyse.capacity.whatif import Change
from doctord.cli._history import history, renewed
from doctord.cli._read import chart_of
from doctord.cli._rules import own_figures, rules_of
from doctord.cli.arguments import Refusal, note, parse_moment, parse_size
from doctord.lake.history import until_of
from doctord.lake.place import default_lake
from doctord.lake.query import Lake
from doctord.printable import json_text
from doctord.read.source import Told
from doctord.report import capacity_forecast

LOOKED_BACK = timedelta(days=2 * 365)
PERCENT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*")
HINT_EXTRA = "pip install 'doctord[forecast]' brings statsforecast and ruptures"


def changes(growth: str | None, events: Sequence[str], additions: Sequence[str]) -> list[Change]:
    """The what-ifs that the user names.

    Raises:
        Refusal: one of them is not of its form.
    """
    made = [Change(f"{growth.strip()} more", factor=_factor(growth))] if growth else []
    for text in events:
        moment, _, share = text.strip().rpartition(" ")
        if not moment:
            raise Refusal(f"{text!r} is no event", "write it as '2027-01-01 +30%'")
        made.append(Change(f"{share} from {moment}", factor=_factor(share), since=parse_moment(moment)))
    for text in additions:
        size, found, name = text.partition(" to ")
        if not found:
            raise Refusal(f"{text!r} is no addition", "write it as '40GB to users'")
        made.append(Change(text, added=float(parse_size(size)), unit="bytes", entity=name.strip()))
    return made


def items(
    paths: Sequence[Path], told: Told, lake: Path | None, file: Path | None, horizon_s: float, changes: Sequence[Change]
) -> list[Item]:
    """Every threshold with every series that it concerns, and when it is passed.

    Raises:
        Refusal: nothing was measured, or the libraries that forecast are not installed.
    """
    rules = rules_of(file)
    figures = with_loads(rules.figures_used(), own_figures()) if changes else rules.figures_used()
    return foreseen(histories(paths, told, lake, figures), rules, horizon_s, changes)


def histories(paths: Sequence[Path], told: Told, lake: Path | None, figures: Sequence[Figure]) -> list[Series]:
    """Figures over the time that files tell of, or over the last years of a lake."""
    if paths:
        return list(series_at_pace(chart_of(paths, told), figures, HOUR_S))
    place = Lake(lake or default_lake())
    renewed(place, figures)
    last = until_of(place, figures)
    hours = history(place, figures, last - LOOKED_BACK, last) if last else []
    return [at_its_pace(series) for series in hours]


def foreseen(measured: Sequence[Series], rules: Rules, horizon_s: float, changes: Sequence[Change]) -> list[Item]:
    """The thresholds held against where the figures go.

    Raises:
        Refusal: the libraries that forecast are not installed.
    """
    if left := [one.name for one in rules.thresholds if one.of]:
        note(f"percentiles are not forecast, so these thresholds are left out: {', '.join(left)}")
    try:
        return outlook(measured, rules.thresholds, horizon_s, changes)
    except ModuleNotFoundError as error:
        raise Refusal(f"forecasts need {error.name}, which is not installed", HINT_EXTRA) from error


def page(found: Sequence[Item], horizon_s: float, changes: Sequence[Change], *, json: bool) -> str:
    """The document of a forecast, as JSON or to be read."""
    document = capacity_forecast.document_of(found, horizon_s, [change.text for change in changes])
    return json_text(document) if json else capacity_forecast.render(document)


def alerts(found: Sequence[Item], form: str) -> str:
    """What is to come, as alerts."""
    now = max((item.series.end for item in found), default=None)
    made = [alert.foreseen(item.threshold, item.series, item.when, now) for item in found if now]
    told = [one for one in made if one is not None]
    return alert.prometheus(told) if form == "prometheus" else alert.alertmanager(told, now)


def status(found: Sequence[Item]) -> int:
    """0 when nothing is or will be violated within the horizon, 1 when something is, 2 when nothing can be told."""
    verdicts = {item.when.verdict for item in found}
    if verdicts & {"violated", "date"}:
        return 1
    return 0 if "not within the horizon" in verdicts else 2


def _factor(text: str) -> float:
    found = PERCENT.fullmatch(text)
    if not found or float(found[1]) <= -100:
        raise Refusal(f"{text!r} is no growth", "write it as 20%, +30% or -10%")
    return 1 + float(found[1]) / 100
