"""Incidents: what a library holds, what an interval resembles, and when a recording was bad."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, Final

from rich.text import Text

from doctord.analyse.incidents.figures import ACTIVE, DATABASE_TIME
from doctord.analyse.incidents.likeness import ALIKE
from doctord.analyse.incidents.signature import LARGEST, Change, by_weight
from doctord.app.incidents.find import Found, Searched
from doctord.app.incidents.known import Resemblance, Resembled
from doctord.app.incidents.library import Incident
from doctord.report import wording
from doctord.report.diagnosis import document as documents
from doctord.report.lines import hanging, heading, one_line, printed, table
from doctord.report.plain import clean
from doctord.report.wording import iso
from doctord.units import duration, in_share, number

MOST_MOVED_SHOWN: Final = 4


@dataclass(frozen=True, slots=True)
class Kept:
    """The incidents of a library, to be shown."""

    library: str
    incidents: Sequence[Incident]
    healthy: bool = True


def document(found: Searched) -> dict[str, Any]:
    """What `doctord diagnose --find --json` gives."""
    return {
        "host": found.host,
        "since": iso(found.since),
        "until": iso(found.until),
        "step_s": found.step_s,
        "suffers": found.suffers,
        "unseen_s": found.unseen_s,
        "intervals": [_interval(one) for one in found.found],
    }


def render(found: Searched) -> str:
    """The same, to be read on a terminal."""
    return printed(lambda width: _searched(found, width), None, colour=None)


def kept_document(kept: Kept) -> dict[str, Any]:
    """What `doctord incident list --json` gives."""
    return {"library": kept.library, "incidents": [_incident(one) for one in kept.incidents]}


def kept_lines(kept: Kept) -> str:
    """The incidents of a library as a table."""
    if not kept.incidents:
        return clean(
            f"{kept.library} holds no incident yet: doctord incident add --from MOMENT --to MOMENT --cause NAME"
        )
    names = ("incident", "cause", "when", "host")
    rows = [(one.name, one.cause, wording.interval(one.since, one.until), one.host) for one in kept.incidents]
    return printed(lambda width: table(names, rows, width), None, colour=None)


def one_document(incident: Incident) -> dict[str, Any]:
    """What `doctord incident show --json` gives."""
    figures = [
        {"name": name, "higher": change.higher, "log_ratio": change.log_ratio}
        for name, change in by_weight(incident.signature)
    ]
    return {**_incident(incident), "figures": figures}


def one_lines(incident: Incident) -> str:
    """One incident, and the figures that moved most in it."""
    return printed(lambda width: _one(incident, width), None, colour=None)


def resemblance_document(found: Resemblance | None) -> dict[str, Any] | None:
    """What an interval resembles, for a document; null where no incident is kept."""
    if found is None:
        return None
    return {
        "known": found.known,
        "nearest": [
            {**_incident(one.incident), "alike": one.alike, "is_alike": one.alike >= ALIKE, "figures": one.shared}
            for one in found.nearest
        ],
        "several": [{"cause": cause, "share": share} for cause, share in found.several],
    }


def resemblance_lines(found: Resemblance) -> Iterator[str]:
    """What an interval resembles, in sentences: evidence, and no verdict."""
    for one in found.alike:
        yield f"Resembles {_whose(one)}, whose cause was {one.incident.cause}{_noted(one.incident)}"
    if found.alike:
        return
    if found.several:
        parts = wording.listed([f"{cause} ({in_share(share)})" for cause, share in found.several])
        yield f"May be several known causes at once: {parts}"
        return
    kept = "the one incident that is kept" if found.known == 1 else f"any of the {found.known} incidents that are kept"
    if not found.nearest:
        yield f"Does not resemble {kept}; too few figures are in common"
        return
    near = found.nearest[0]
    yield f"Does not resemble {kept}; the nearest is {_whose(near)}, whose cause was {near.incident.cause}"


def _whose(one: Resembled) -> str:
    return f"incident {one.incident.name} of {one.incident.since:%F} ({one.alike:.2f})"


def _noted(incident: Incident) -> str:
    return f": {incident.note}" if incident.note else ""


def _searched(found: Searched, width: int) -> Iterator[Text]:
    many, by_commit = len(found.found), found.suffers == DATABASE_TIME
    if found.suffers is None:
        verdict, style = "No verdict: nothing tells how long clients waited", "bold yellow"
    elif many:
        verdict = "An interval in which" if many == 1 else f"{many} intervals in which"
        longer = "clients waited longer than usual" if by_commit else f"{_were(found.suffers)} higher than usual"
        verdict, style = f"{verdict} {longer}", "bold red"
    else:
        same = "clients waited about as long" if by_commit else f"{_were(found.suffers)} about the same"
        verdict = f"Nothing stands out: {same} throughout"
        style = "bold green"
        if found.is_unseen:
            verdict, style = f"No verdict: {same} in what was seen", "bold yellow"
    yield one_line(verdict, style, width)
    searched = f"{wording.interval(found.since, found.until)}, in steps of {duration(found.step_s)}"
    yield from hanging("", f"{found.host}, {searched}" if found.host else searched, width)
    if found.suffers is not None and found.is_unseen:
        unseen = f"Of {duration(found.unseen_s)} nothing tells how clients did: the server did not answer, or nobody"
        yield from hanging("", f"{unseen} recorded. doctord diagnose says whether it was up.", width)
    if not many and found.suffers is not None:
        yield from hanging("", "It may be as bad throughout: doctord diagnose judges it as a whole.", width)
    if many:
        yield from heading("When it was bad", width, "the longest wait first")
    for place, one in enumerate(found.found, 1):
        yield from _bad(place, one, found.suffers or "", width)
    if many:
        worst = found.found[0].interval
        yield Text()
        said = f"--from {worst.since:%FT%TZ} --to {worst.until:%FT%TZ}"
        yield from hanging("Whole ", f"doctord diagnose {said}", width)
        yield from hanging("Keep  ", f"doctord incident add {said} --cause NAME", width)


def _were(suffers: str | None) -> str:
    return f"{suffers} {'were' if suffers == ACTIVE else 'was'}"


def _bad(place: int, one: Found, suffers: str, width: int) -> Iterator[Text]:
    bad = one.interval
    if bad.times is None:
        times = "nothing was committed"
    elif suffers == DATABASE_TIME:
        times = f"each commit took {number(bad.times)} times as long"
    else:
        times = f"{number(bad.times)} times as {'many' if suffers == ACTIVE else 'much'} {suffers} as usual"
    when = f"{wording.interval(bad.since, bad.until)}: {times}"
    yield from hanging(f"{place:<3}", Text(clean(when), style="bold"), width)
    if one.examination:
        yield from hanging("   ", clean(wording.verdict(one.examination.diagnosis)), width)
    if one.resemblance:
        for line in resemblance_lines(one.resemblance):
            yield from hanging("   ", clean(line), width)
    if one.moved:
        moved = ", ".join(f"{name} {_change(change)}" for name, change in one.moved[:MOST_MOVED_SHOWN])
        yield from hanging("   ", clean(f"What moved most: {moved}"), width)


def _one(incident: Incident, width: int) -> Iterator[Text]:
    yield one_line(clean(f"{incident.name}: {incident.cause}"), "bold", width)
    where = ", ".join(part for part in (incident.host, wording.interval(incident.since, incident.until)) if part)
    yield from hanging("", where, width)
    if incident.note:
        yield from hanging("", clean(incident.note), width)
    yield from heading("Figures that moved most", width, "how sure it is that they were higher (-1 to 1)")
    for name, change in by_weight(incident.signature)[:20]:
        yield from hanging(f"{change.higher:+6.2f}  {_change(change):>12}  ", clean(name), width)
    yield from hanging("", f"{len(incident.signature)} in all: --json has them.", width)


def _change(change: Change) -> str:
    """How many times as much; what is as far as a ratio goes is so much at least."""
    most = abs(change.log_ratio) >= LARGEST
    if change.log_ratio >= 0:
        return f"{'over ' if most else ''}{number(exp(change.log_ratio))} times"
    return f"{'under ' if most else ''}1/{number(exp(-change.log_ratio))}"


def _incident(one: Incident) -> dict[str, Any]:
    return {
        "name": one.name,
        "cause": one.cause,
        "note": one.note,
        "host": one.host,
        "since": iso(one.since),
        "until": iso(one.until),
        "added": iso(one.added),
        "version": one.version,
    }


def _interval(one: Found) -> dict[str, Any]:
    return {
        "since": iso(one.interval.since),
        "until": iso(one.interval.until),
        "times": one.interval.times,
        "explained": one.interval.explained,
        "moved": [{"name": name, "higher": change.higher, "log_ratio": change.log_ratio} for name, change in one.moved],
        "resembles": resemblance_document(one.resemblance),
        "diagnosis": documents.document(one.examination.diagnosis) if one.examination else None,
    }
