"""What `doctord forecast` reads from its options, and prints."""

import re
from collections.abc import Sequence

from doctord.analyse.capacity import alert
from doctord.analyse.capacity.outlook import Item
from doctord.analyse.capacity.whatif import Change
from doctord.cli.arguments import Refusal, parse_moment, parse_size
from doctord.printable import json_text
from doctord.report import capacity_forecast

PERCENT = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*%\s*")


def changes(growth: str | None, events: Sequence[str], additions: Sequence[str]) -> list[Change]:
    """The what-ifs that the user names.

    Raises:
        Refusal: one of them is not of its form.
    """
    made = [Change(f"{growth.strip()} more", factor=_factor(growth))] if growth else []
    for text in events:
        moment, _, share = text.strip().rpartition(" ")
        if not moment:
            raise Refusal(f"{text!r} is no step", "write it as '2027-01-01 +30%'")
        made.append(Change(f"{share} from {moment}", factor=_factor(share), since=parse_moment(moment)))
    for text in additions:
        size, found, name = text.partition(" to ")
        if not found:
            raise Refusal(f"{text!r} is no addition", "write it as '40GB to users'")
        made.append(Change(text, added=float(parse_size(size)), unit="bytes", entity=name.strip()))
    return made


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
