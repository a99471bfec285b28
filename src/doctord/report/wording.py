"""What every form of the report says in the same words: the verdict, shares, confidence, times; and in what order."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

from doctord.analyse.vitals import Vital
from doctord.diagnose.finding import Diagnosis, Finding
from doctord.report.phrases import said, says_share, time
from doctord.units import duration, in_share, number, quantity

CONFIDENCE = ((0.9, "almost certain"), (0.75, "very likely"), (0.6, "likely"), (0.4, "possible"), (0.0, "a guess"))
OF_DEVICES = (" latency", " requests")  # what vital signs of devices are called
MOST_DEVICES = 3
MOST_UNJUDGED = 3  # hosts that are named
LEAST_EXPLAINED = 0.005
OVERVIEW_FROM = 4  # findings; fewer are seen at a glance


def verdict(diagnosis: Diagnosis) -> str:
    """The verdict without its figures, in one line: the worst finding, or that there is none as far as was seen."""
    if diagnosis.health == "not_healthy":
        worst = diagnosis.findings[0]
        if says_its_share(worst, diagnosis):
            return said(worst.title)
        if worst.impact.known == "not_measured":
            return said(worst.title)
        cost = impact(worst, diagnosis)
        return f"{cost[0].upper()}{cost[1:]}: {said(worst.title)}"
    if diagnosis.health == "not_judged":
        return f"No verdict: {_why_not(diagnosis)}"
    none = "No finding above a note" if diagnosis.findings else "No finding"
    if diagnosis.not_judged:
        one = len(diagnosis.judged) == 1 and not diagnosis.judged[0].endswith("s")
        return f"{none} as far as {listed(diagnosis.judged)} {'shows' if one else 'show'}"
    return f"{none} in what could be seen" if diagnosis.not_measured else none


def of_several(diagnoses: Sequence[Diagnosis]) -> str:
    """That servers and times were judged each for itself, and of which of them there is no verdict."""
    unjudged = [one.host for one in diagnoses if one.health == "not_judged"]
    return each_for_itself(f"{len(diagnoses)} servers and times", unjudged)


def each_for_itself(many: str, unjudged: Sequence[str]) -> str:
    """The same in words of what is many, with the hosts of which there is no verdict."""
    hosts = list(dict.fromkeys(unjudged))
    more = len(hosts) - MOST_UNJUDGED
    names = [*hosts[:MOST_UNJUDGED], f"{more} more"] if more > 0 else hosts
    told = f"{many}, each judged for itself, the worst first"
    return f"{told}; no verdict on {listed(names)}" if names else told


def explained(diagnosis: Diagnosis) -> str:
    """What share of the database time causes explain; empty where no finding above a note takes a share of it."""
    taken = [one for one in diagnosis.findings if one.severity != "note" and one.impact.share and not one.time_of]
    if diagnosis.explained is None or not taken:
        return ""
    if diagnosis.explained < LEAST_EXPLAINED:
        return f"None of the causes found explains the {time(diagnosis.time_of)}"
    return f"The causes found explain {percent(diagnosis.explained)} of the {time(diagnosis.time_of)}"


def unanswered(diagnosis: Diagnosis) -> str:
    """That servers which were named gave no answer, or let us not in, where the verdict is about something else."""
    if not diagnosis.unanswered or diagnosis.health == "not_judged":
        return ""
    who = _named(diagnosis.unanswered)
    return f"{who[0].upper()}{who[1:]} could not be asked: why is at the end, under what could not be seen"


def _named(servers: int) -> str:
    return "the server that was named" if servers == 1 else f"{servers} servers that were named"


def _why_not(diagnosis: Diagnosis) -> str:
    """Why there is no verdict."""
    if diagnosis.unanswered:
        return f"{_named(diagnosis.unanswered)} could not be asked"
    undecided = next((finding for finding in diagnosis.findings if finding.not_measured), None)
    if undecided:
        return said(undecided.title)
    if diagnosis.since is None:
        return "nothing was measured"
    if diagnosis.not_measured:
        return said(diagnosis.not_measured[0].why)
    return "no times, waits or vital signs are in it"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["CPUs", "memory", "disks"])
    'CPUs, memory and disks'
    """
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def says_its_share(finding: Finding, diagnosis: Diagnosis) -> bool:
    """Whether the title gives the share of time itself."""
    return says_share(finding.title, finding.time_of or diagnosis.time_of)


def in_short(finding: Finding, diagnosis: Diagnosis) -> str:
    """Title, cost and confidence in one sentence, the share once."""
    cost = "" if says_its_share(finding, diagnosis) else f"{impact(finding, diagnosis)}, "
    return f"{said(finding.title)}: {cost}{confidence(finding)}"


def style(diagnosis: Diagnosis) -> str:
    """How the verdict stands on a terminal: green only where it was looked and nothing is wrong."""
    return {"healthy": "bold green", "not_healthy": "bold red", "not_judged": "bold yellow"}[diagnosis.health]


def impact(finding: Finding, diagnosis: Diagnosis) -> str:
    """What a finding costs, as a share of the time that the diagnosis is about."""
    whose = time(finding.time_of or diagnosis.time_of)
    if finding.impact.share is None:
        return "no time lost yet" if finding.impact.known == "none_yet" else f"share of {whose}: not measured"
    most = "at most " if finding.impact.known == "at_most" else ""
    return f"{most}{percent(finding.impact.share)} of {whose}"


def vital(sign: Vital) -> str:
    """The value of a vital sign with its unit, in three digits."""
    return quantity(sign.value, "s") if sign.unit == "s" else f"{number(sign.value)} {sign.unit}".strip()


def in_header(signs: Sequence[Vital]) -> list[tuple[str, str]]:
    """Names and values of vital signs; of many devices the worst of each kind, and how many more there are."""
    kinds = {kind: [sign for sign in signs if sign.name.endswith(kind)] for kind in OF_DEVICES}
    shown = list[tuple[str, str]]()
    for sign in signs:
        alike = next((found for kind, found in kinds.items() if sign in found), [])
        if len(alike) <= MOST_DEVICES:
            shown.append((sign.name, vital(sign)))
        elif sign == max(alike, key=lambda one: one.value):
            shown.append((sign.name, f"{vital(sign)}, the highest of {len(alike)} devices"))
    return shown


def time_of(diagnosis: Diagnosis) -> str:
    """Whose time the shares are of, after `where`."""
    return time(diagnosis.time_of) if diagnosis.time_of == "pass" else f"the {time(diagnosis.time_of)}"


def confidence(finding: Finding) -> str:
    """Confidence in words, with its figure."""
    word = next(word for least, word in CONFIDENCE if finding.confidence >= least)
    return f"{word} ({percent(finding.confidence)})"


def percent(share: float) -> str:
    """A share of 0 to 1 in percent; what is above zero never shows as zero."""
    return "<0.1 %" if 0 < share < 0.0005 else in_share(share)


def interval(since: datetime | None, until: datetime | None) -> str:
    """An interval in UTC, and by the clock of this machine where that is another, with its length.

    The second date stands there only where it differs.
    """
    if since is None or until is None:
        return "no time covered"
    start, end = since.astimezone(UTC), until.astimezone(UTC)
    here = start.astimezone(), end.astimezone()
    local = f", {_from_to(*here, start.date())} {here[1]:%Z}" if any(moment.utcoffset() for moment in here) else ""
    return f"{_from_to(start, end)} UTC{local} ({duration((end - start).total_seconds())})"


def moment(at: datetime) -> str:
    """A moment in UTC, and by the clock of this machine where that is another."""
    utc, here = at.astimezone(UTC), at.astimezone()
    form = "%H:%M:%S" if here.date() == utc.date() else "%Y-%m-%d %H:%M:%S"
    return f"{utc:%Y-%m-%d %H:%M:%S} UTC" + (f", {here:{form}} {here:%Z}" if here.utcoffset() else "")


def _from_to(start: datetime, end: datetime, said: date | None = None) -> str:
    """From when to when, each with its date where the one before it is another."""
    known = start.date() == said, end.date() == start.date()
    first, last = ("%H:%M:%S" if is_known else "%Y-%m-%d %H:%M:%S" for is_known in known)
    return f"{start:{first}} to {end:{last}}"


def iso(moment: datetime | None) -> str | None:
    """A moment as JSON documents have it: ISO 8601, in UTC; null stays null."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def grouped(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Findings in their order, each with those that it explains, directly or through others."""
    by_cause = {finding.cause: finding for finding in reversed(findings)}

    def root(finding: Finding) -> Finding:
        seen = [finding]
        while finding.explained_by in by_cause:
            finding = by_cause[finding.explained_by]
            if any(finding is earlier for earlier in seen):
                return seen[0]
            seen.append(finding)
        return finding

    roots = [root(finding) for finding in findings]
    return [
        (top, [other for other, its_root in zip(findings, roots, strict=True) if its_root is top and other is not top])
        for top, its_root in zip(findings, roots, strict=True)
        if its_root is top
    ]
