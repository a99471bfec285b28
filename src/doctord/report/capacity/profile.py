"""A profile: a JSON document, and the same on one page of a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from rich.text import Text

from doctord.analyse.capacity.contradictions import Contradiction
from doctord.analyse.capacity.percentiles import DECIDES, SHOWN
from doctord.analyse.capacity.profile import DAYS_AGO, Line, Profile, Rhythm, ServerProfile
from doctord.app.sources.hosts import Hosts
from doctord.report.capacity import hosts
from doctord.report.lines import hanging, hashes, heading, printed, table
from doctord.units import duration, in_letters, number, quantity

SCHEMA_VERSION: Final = 1
CHANGE_OVER: Final = 30  # days, on the terminal
DECIDES_HEADING: Final = "95 %"
MOST_LINES: Final = 8  # of one figure; all of them are in the document
DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NOTHING: Final = "not measured"
# What stands beside a figure's name of a unit that stands with its values.
BESIDE: Final = {"": "", "bytes": "", "bytes_per_s": ", per s"}


def document(found: Hosts[Profile]) -> dict[str, Any]:
    """What `doctord profile --json` gives: docs/reference/profile.md."""
    return hosts.document(found, _document)


def render(found: Hosts[Profile]) -> str:
    """The same, each host on one page of a terminal."""
    return hosts.render(found, page)


def _document(profile: Profile) -> dict[str, Any]:
    """The document of one host."""
    return {
        "schema_version": SCHEMA_VERSION,
        "at": profile.at.isoformat(),
        "values_of": "busy hour" if profile.busy_hour else "day",
        "violations": len(profile.violations),
        "servers": [_server_document(server) for server in profile.servers],
        "data_quality": list(profile.data_quality),
        "contradictions": [_contradiction_document(found) for found in profile.contradictions],
        "not_measured": list(profile.missing),
    }


def _server_document(server: ServerProfile) -> dict[str, Any]:
    rhythm = server.rhythm
    return {
        "host": server.host,
        "db": server.db,
        "measured": {
            "since": server.measured.since.isoformat(),
            "hours": server.measured.hours,
            "measured_hours": server.measured.measured,
            "measured_hours_today": server.measured.today,
        },
        "figures": [_line_document(line) for line in server.lines],
        "top_waits": [
            {
                "event": wait.event,
                "wait_class": wait.wait_class,
                "whole_class": wait.whole_class,
                "seconds_per_second": wait.s_per_s,
                "share": wait.share,
                "average_ms": wait.average_ms,
            }
            for wait in server.waits
        ],
        "rhythm": rhythm
        and {
            "figure": rhythm.figure.name,
            "unit": rhythm.figure.unit,
            "busy_hour": rhythm.busy_hour,
            "by_hour": list(rhythm.by_hour),
            "by_weekday": list(rhythm.by_weekday),
        },
    }


def _line_document(line: Line) -> dict[str, Any]:
    return {
        "figure": line.figure.name,
        "title": line.figure.title,
        "component": line.figure.component,
        "unit": line.figure.unit,
        "entity": line.labels.entity or None,
        "days_ago": {str(days): line.values[days] for days in DAYS_AGO},
        "percentiles": {str(days): _percentiles(line.percentiles[days]) for days in DAYS_AGO},
        "change_pct": {str(days): line.change_pct(days) for days in DAYS_AGO if days},
        "limit": line.limit,
        "limit_of": (line.threshold.of or line.figure.sum) if line.threshold else None,
        "worse": line.threshold.worse if line.threshold else None,
        "threshold": line.threshold.name if line.threshold else None,
        "verdict": line.verdict,
    }


def _percentiles(found: Mapping[str, float] | None) -> Mapping[str, float] | None:
    return found and {name: found[name] for name in ("rows", *SHOWN)}


def _contradiction_document(found: Contradiction) -> dict[str, Any]:
    return {
        "host": found.host,
        "db": found.db,
        "entity": found.entity,
        "ts": found.ts.isoformat(),
        "rows": found.rows,
        "waits": found.waits,
        "waited_s": found.waited_s,
        "said_ms": found.said_ms,
        "reckoned_ms": found.reckoned_ms,
    }


def page(profile: Profile, width: int | None = None, *, colour: bool | None = None) -> str:
    """The profile as lines of text."""
    return printed(lambda columns: _page(profile, columns), width, colour=colour)


def _page(profile: Profile, width: int) -> Iterator[Text]:
    view = "busy hour" if profile.busy_hour else "day"
    yield from hanging("", f"Profile of the {view} to {profile.at:%F %H:%M} UTC", width)
    about = f"{DECIDES_HEADING}: what so many of today's rows are no worse than"
    yield from hanging("", f"{_verdict(profile)} -: not measured. {about}.", width)
    for found in profile.contradictions:
        yield from hanging("contradiction: ", _contradiction(found), width)
    for doubt in profile.data_quality:
        yield from hanging("doubt: ", doubt, width)
    for server in profile.servers:
        yield from _server(server, width)
    if profile.missing:
        yield Text()
        yield from hanging(f"{NOTHING}: ", ", ".join(profile.missing), width)


def _verdict(profile: Profile) -> str:
    verdicts = Counter(line.verdict for server in profile.servers for line in server.lines)
    judged, untold = verdicts["kept"] + verdicts["violated"], verdicts["cannot be told"]
    short = f"{untold} cannot be told: {duration(profile.measured_s or 0.0)} of history." if untold else ""
    if not judged:
        return f"Of the limits {short}" if short else "No limit is known for any of these figures."
    violated = len(profile.violations)
    told = f"{violated} of {judged} figures with a limit violate it." if violated else _all_kept(judged)
    return f"{told} {short}".rstrip()


def _all_kept(judged: int) -> str:
    return "The one limit is kept." if judged == 1 else f"All {judged} limits are kept."


def _contradiction(found: Contradiction) -> str:
    of = ", ".join(part for part in (found.host, found.db) if part)
    return (
        f"{found.entity}{f' ({of})' if of else ''}: {duration(found.waited_s)} in {found.waits:,.0f} waits are "
        f"{number(found.reckoned_ms)} ms each, but {number(found.said_ms)} ms are given ({found.ts:%F %H:%M} UTC, "
        f"{found.rows} row{'s' if found.rows > 1 else ''} alike): neither is used"
    )


def _server(server: ServerProfile, width: int) -> Iterator[Text]:
    yield from heading(", ".join(filter(None, (server.host, server.db))) or "host not named", width)
    of = server.measured
    rests_on = f"Measured since {of.since:%F %H:%M} UTC: {of.measured} of {of.hours} hours, {of.today} of today's 24"
    yield from hanging("", rests_on, width)
    for component, lines in groupby(_shown(server), key=lambda line: line.figure.component):
        yield Text()
        names = ("90 d ago", "30 d", "7 d", "today", DECIDES_HEADING, f"{CHANGE_OVER} d %", "limit", f"{component}")
        yield from table(names, [_row(line) for line in lines], width)
    if server.waits:
        yield Text()
        rows = [
            (
                f"{wait.share:.0%}",
                shown(wait.s_per_s),
                shown(wait.average_ms),
                _wait_name(wait.event, wait.wait_class),
            )
            for wait in server.waits
        ]
        kind = "classes of waits" if any(wait.whole_class for wait in server.waits) else "waits"
        yield from table(("share", "s/s", "avg ms", f"top {kind} today, with CPU"), rows, width)
    if server.rhythm:
        yield from _rhythm(server.rhythm, width)


def _shown(server: ServerProfile) -> list[Line]:
    """What stands on a page: of each figure the largest, and all that are violated."""
    shown = list[Line]()
    for _, lines in groupby(server.lines, key=lambda line: line.figure):
        of = list(lines)
        judged = [line for line in of if line.threshold or line.verdict == "contradicted"]
        others = [line for line in of if line not in judged and line.figure.component != "waits"]
        largest = sorted(others, key=lambda line: -abs(line.today or 0))[:MOST_LINES]
        shown += [line for line in of if line in judged or line in largest]
    return shown


def _row(line: Line) -> Sequence[str]:
    values = [shown(line.values[days], line.figure.unit) for days in DAYS_AGO]
    change = line.change_pct(CHANGE_OVER)
    about = f" {line.labels.entity}" if line.labels.entity else ""
    verdict = f"{line.verdict.upper()}: " if line.verdict in {"violated", "contradicted"} else ""
    unit = BESIDE.get(line.figure.unit, f", {line.figure.unit.replace('_', ' ')}")
    limit = "" if line.limit is None else shown(line.limit, line.figure.unit)
    limit += f" {line.threshold.of}" if line.threshold and line.threshold.of else ""
    percentile = shown((line.percentiles[0] or {}).get(DECIDES[line.figure.worse]), line.figure.unit)
    return (
        *values,
        percentile,
        "-" if change is None else f"{change:+.0f}",
        limit,
        f"{verdict}{line.figure.title}{about}{unit}",
    )


def _wait_name(event: str, wait_class: str | None) -> str:
    return event if wait_class in {None, event} else f"{event} ({wait_class})"


def _rhythm(rhythm: Rhythm, width: int) -> Iterator[Text]:
    yield Text()
    busy = f"busiest from {rhythm.busy_hour:02}:00 to {(rhythm.busy_hour + 1) % 24:02}:00 UTC"
    yield from hanging("", f"{rhythm.figure.title} by weekday, four weeks; {busy}", width)
    most = max((mean for mean in rhythm.by_weekday if mean is not None), default=0)
    for day, mean in zip(DAYS, rhythm.by_weekday, strict=True):
        bar = hashes(mean / most if mean and most else None, 30).rstrip()
        yield Text(f"{day}  {NOTHING if mean is None else shown(mean):>8}  {bar}".rstrip())


def shown(value: float | None, unit: str = "") -> str:
    """Three digits, thousands as letters, bytes with their unit, as narrow as it can be; `-` for what was not measured.

    >>> shown(1234567.0), shown(0.61), shown(None), shown(1234567.0, "bytes_per_s")
    ('1.23 M', '0.61', '-', '1.18MiB')
    """
    if value is None:
        return "-"
    return quantity(value, "bytes").replace(" ", "") if unit.startswith("bytes") else in_letters(value, 1000.0)
