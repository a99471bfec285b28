"""ADDM reports, 10g to 23ai: the findings of Oracle's own diagnostic monitor on one interval.

`event`: one row for each finding: kind `addm finding`, subject its title, text what ADDM says of it with its impact,
hint the recommendations. `statistic`: `addm.impact_active_sessions` and `addm.benefit_active_sessions` (entity: the
finding; the benefit is that of the best recommendation), `addm.active_sessions` of the whole interval, and the database
time (`v$sys_time_model.DB time`), which a report without findings has too. 10g gives the impact in seconds: these are
divided by the interval.

Left out: the text of statements and whatever else stands below `Related Object`, symptoms, and what ADDM did not find.
Quoted values are taken out of the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.oracle.dates import MOMENT, report_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "ADDM report"
RANK = Rank.NAMED
TITLE = regex(
    r"^[^\S\n]*+(?:DETAILED )?ADDM REPORT FOR (?:TASK|DATABASE|ANALYSIS|INSTANCE)\b", re.IGNORECASE | re.MULTILINE
)
PERIOD = (
    regex(rf"Time period starts at ({MOMENT})\s+Time period ends at ({MOMENT})"),
    regex(r"Analysis Period: *(\S+) from (\S+) to (\S+)"),
)
DATABASE = regex(r"Database '(?P<now>[^']+)' with DB ID|Database/Instance Names: *(?P<old>[^/\s]+)/(?P<instance>\S+)")
INSTANCE = regex(r"instance\s+(\S+),\s+numbered\s+\d+\s+and\s+hosted\s+at\s+(\S+?)\.?(?:\s|$)")
HOST = regex(r"Host Name: *(\S+)")
LOAD = regex(r"(?:average number of active sessions was|Average Database Load:) *([\d,]*\.?\d+)")
DB_TIME = regex(r"(?:Total database time was|Database Time:) *([\d,]*\.?\d+) seconds")
FINDING = regex(r"finding (\d+): (.+)", re.IGNORECASE)
RECOMMENDATION = regex(r"recommendation \d+: (.+)", re.IGNORECASE)
IMPACT = regex(
    r"(?:Impact|Estimated benefit) is ([\d,]*\.?\d+) active sessions?, ([\d.,]+)% of total activity", re.IGNORECASE
)
IMPACT_10G = regex(r"([\d.,]+)% (?:impact|benefit) \(([\d,]*\.?\d+) seconds\)")
PART = regex(r"(action|rationale|related object|relevant object)(?:: *(.*))?$", re.IGNORECASE)
END = regex(
    r"~{20,}|symptoms that led to|additional information|additional findings|no recommendations are", re.IGNORECASE
)
QUOTED = regex(r"'[^']*'")


@dataclass
class Advice:
    """A recommendation: its kind, and what to do."""

    title: str
    sessions: float | None = None
    action: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """As it stands in a hint."""
        return f"{self.title}: {' '.join(self.action)}" if self.action else self.title


@dataclass
class Finding:
    """What ADDM found: its share in active sessions and per cent, its text, and what it recommends."""

    title: str
    sessions: float | None = None
    percent: float | None = None
    text: list[str] = field(default_factory=list)
    advice: list[Advice] = field(default_factory=list)


class About(NamedTuple):
    """Whom a report is about, and when."""

    begin: datetime
    end: datetime
    db: str
    instance: str | None
    host: str | None

    @property
    def seconds(self) -> float:
        """Length of the interval."""
        return (micros(self.end) - micros(self.begin)) / 1e6


def sniff(head: str) -> bool:
    """Whether a file that begins so holds such a report, after what was typed to get it perhaps."""
    return bool(TITLE.search(head)) and "<html" not in head[:4096].lower()


def read(source: SourceFile) -> Iterator[Batch]:
    """Findings as events, their impact as statistics.

    Raises:
        UserError: the report does not say when it was.
    """
    text = "\n".join(line for _, line in source.lines())
    begins = [found.start() for found in TITLE.finditer(text)]
    reports = dict.fromkeys(text[begin:end] for begin, end in zip(begins, [*begins[1:], len(text)], strict=True))
    known = [(about, report) for report in reports if (about := _about(report, source)) is not None]
    if not known:
        raise UserError(f"{source.name} does not say from when to when it is", "take the whole report")
    for about, report in known:
        source.host = about.host or source.host
        yield from _batches(about, list(_findings(report.splitlines(), about.seconds)), report)


def _about(report: str, source: SourceFile) -> About | None:
    whole, old = (pattern.search(report) for pattern in PERIOD)
    if whole:
        moments = whole.groups()
    elif old:
        moments = tuple(f"{old[1]} {time}" for time in old.groups()[1:])
    else:
        return None
    begin, end = (report_moment(moment, source) for moment in moments)
    if begin is None or end is None or end <= begin:
        return None
    database, instance, host = DATABASE.search(report), INSTANCE.search(report), HOST.search(report)
    name = database["now"] or database["old"] if database else "unknown"
    hosted = instance[2] if instance else host[1] if host else None
    named = instance[1] if instance else database["instance"] if database else None
    return About(begin, end, f"oracle:{name}", named, hosted)


def _findings(lines: list[str], seconds: float) -> Iterator[Finding]:
    """The findings of a report, part by part."""
    finding: Finding | None = None
    into = list[str]()
    for line in map(str.strip, lines):
        if found := FINDING.fullmatch(line):
            if finding is not None:
                yield finding
            finding = Finding(found[2])
            finding.sessions, finding.percent = _impact(line, seconds)
            into = finding.text
        elif finding is None or not line or line.startswith("---"):
            continue
        elif END.match(line):
            into = []  # what follows is not kept
        elif found := RECOMMENDATION.match(line):
            finding.advice.append(Advice(IMPACT_10G.sub("", found[1]).rstrip(", "), _impact(line, seconds)[0]))
            into = []
        elif (found := IMPACT.match(line)) and finding.advice:
            finding.advice[-1].sessions = _number(found[1])
        elif found:
            finding.sessions, finding.percent = _number(found[1]), _number(found[2])
        elif found := PART.match(line):
            wanted = finding.advice and found[1].lower() == "action"
            into = finding.advice[-1].action if wanted else []
            into.extend(filter(None, [found[2]]))
        else:
            into.append(line)
    if finding is not None:
        yield finding


def _impact(line: str, seconds: float) -> tuple[float | None, float | None]:
    """Active sessions and per cent, as 10g says them in a title."""
    found = IMPACT_10G.search(line)
    return (_number(found[2]) / seconds, _number(found[1])) if found else (None, None)


def _number(text: str) -> float:
    """A number with a decimal point, or comma where the language wants it so (`.51`, `1,234.5`, `72,49`)."""
    if "." not in text and re.fullmatch(r"\d*,\d{1,2}", text):
        return float(text.replace(",", "."))
    return float(text.replace(",", ""))


def _batches(about: About, findings: list[Finding], report: str) -> Iterator[Batch]:
    at = {"ts": micros(about.end), "interval_s": about.seconds, "host": about.host, "db": about.db}
    if findings:
        yield rows("event", (at | _event(finding) for finding in findings))
    load = LOAD.search(report)
    figures = list[tuple[str, str | None, float]]()
    if load:
        figures.append(("addm.active_sessions", None, _number(load[1])))
    for finding in findings:
        benefits = [advice.sessions for advice in finding.advice if advice.sessions is not None]
        told = (("impact", finding.sessions), ("benefit", max(benefits, default=None)))
        figures += [
            (f"addm.{name}_active_sessions", _subject(finding), value) for name, value in told if value is not None
        ]
    about_all = {"component": "oracle", "instance": about.instance, "unit": "sessions", "kind": "gauge"}
    if (spent := DB_TIME.search(report)) and (seconds := _number(spent[1])) >= 0:
        time = {"name": "v$sys_time_model.DB time", "value": seconds / about.seconds, "unit": "s_per_s", "kind": "rate"}
        yield rows("statistic", [at | about_all | time])
    if figures:
        yield rows(
            "statistic",
            (at | about_all | {"name": name, "entity": entity, "value": value} for name, entity, value in figures),
        )


def _event(finding: Finding) -> dict[str, object]:
    impact = []
    if finding.sessions is not None and finding.percent is not None:
        impact = [f"{finding.sessions:.2f} active sessions, {finding.percent:g} % of total activity."]
    return {
        "kind": "addm finding",
        "subject": _subject(finding),
        "text": _plain([*impact, *finding.text]),
        "hint": _plain(map(str, finding.advice)) or None,
    }


def _subject(finding: Finding) -> str:
    """The finding's title; 10g has none but its impact: what it says first."""
    title = finding.title if not IMPACT_10G.search(finding.title) else _plain(finding.text).partition(". ")[0]
    return _plain([title]) or finding.title


def _plain(lines: Iterable[str]) -> str:
    return QUOTED.sub("?", " ".join(lines))
