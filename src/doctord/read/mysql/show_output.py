r"""SHOW GLOBAL VARIABLES and SHOW GLOBAL STATUS of MariaDB and MySQL: as a box, by tabs, as CSV, or after `\G`.

Variables become `setting` (component `mysql`), status becomes `statistic` under names such as
`global_status.threads_running`: readings as they are, counters as increases per second. One reading of the counters
gives their mean since the server's start, over `Uptime`; of several in one file the increase from the first to the
last counts. Without `Uptime` counters tell nothing and are left out. `db` is `mysql:PORT` where the variables tell it.
A value that may hold a secret is not kept.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset import mysql_names
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "SHOW VARIABLES or STATUS of MariaDB or MySQL"
RANK = Rank.NAMED
HEADER: Final = regex(r"""["']?variable_name["']?(?:\s*\|\s*|\t|,)["']?(?:variable_|global_)?value["']?""", re.I)
VERTICAL: Final = regex(r"\s*(?:variable_name|(?:variable_|global_)?(value)): ?(.*)$", re.IGNORECASE)
VERTICAL_BEGINS: Final = regex(r"\A\*{3,} 1\. row \*{3,}\s+variable_name: ", re.IGNORECASE)
FIRST_ROW: Final = regex(r"\*{3,} 1\. row \*{3,}$")
LEFT_OUT: Final = regex(r"\*{3,} \d+\. row \*{3,}$|\+-[-+]*-\+$|\d+ rows? in set|Empty set")
BOXED: Final = regex(r"\|\s+(\S+)\s+\|\s(.*?)\s*\|$")
KNOWN: Final = regex(r"^(?:Aborted_clients|Threads_running|Uptime|innodb_buffer_pool_size|version)\t", re.MULTILINE)
OF_STATUS: Final = frozenset({"uptime", "threads_running", "questions", "aborted_clients"})
NO_ROW: Final = "no variable and its value"

Section = dict[str, str]


def sniff(head: str) -> bool:
    """Whether the header of such an answer is in it, or well-known names by tabs."""
    return bool(HEADER.search(head) or VERTICAL_BEGINS.search(head)) or len(KNOWN.findall(head)) > 1


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting` and `statistic`."""
    variables, status = Section(), list[Section]()
    for section in _sections(source):
        if _is_status(section):
            status.append(section)
        else:
            variables |= section
    port = variables.get("port", "")
    common: dict[str, object] = {"db": f"mysql:{port}" if port.isdecimal() else "mysql"}
    common |= {"ts": micros(untimed(source, 1)[0]), "host": source.host or variables.get("hostname")}
    if variables:
        yield rows("setting", (common | row for row in _settings(variables)))
    if status:
        yield rows("statistic", [common | row for row in _statistics(source, status[0], status[-1])])


def _settings(variables: Section) -> Iterator[dict[str, object]]:
    for name, value in variables.items():
        yield {"component": mysql_names.COMPONENT, "name": name, "value": mysql_names.shown(name, value)}


def _statistics(source: SourceFile, first: Section, last: Section) -> list[dict[str, object]]:
    """Figures of one reading, or of two of one server: then the counters' increase between them."""
    gauges, counters = mysql_names.readings(last)
    uptime_s = gauges.get("uptime")
    if not uptime_s:
        source.note("no Uptime in it: of its counters no rate is known")
        return mysql_names.status_rows(gauges, {}, 0.0)
    before_gauges, before = mysql_names.readings(first)
    interval_s = uptime_s - before_gauges.get("uptime", uptime_s)
    if interval_s > 0:
        gained = {name: (value - before[name]) / interval_s for name, value in counters.items() if name in before}
        return mysql_names.status_rows(
            gauges, {name: per_s for name, per_s in gained.items() if per_s >= 0}, interval_s
        )
    source.note(f"counters are means since the server's start, {uptime_s:,.0f} s before: two readings tell of now")
    return mysql_names.status_rows(gauges, {name: value / uptime_s for name, value in counters.items()}, uptime_s)


def _is_status(section: Section) -> bool:
    names = {name.lower() for name in section}
    return bool(names & OF_STATUS) or sum(name[0].isupper() for name in section) * 2 > len(section)


def _sections(source: SourceFile) -> Iterator[Section]:
    """What stands below one header, variable by variable; a name that comes again begins another answer too."""
    section = Section()
    for pair in _pairs(source):
        if section and (pair is None or pair[0] in section):
            yield section
            section = Section()
        if pair:
            section[pair[0]] = pair[1]
    if section:
        yield section


def _pairs(source: SourceFile) -> Iterator[tuple[str, str] | None]:
    """Names and values; null where another answer begins."""
    name = ""
    for line, raw in source.lines():
        text = raw.strip()
        if HEADER.search(text) or FIRST_ROW.match(text):
            yield None
        elif not text or LEFT_OUT.match(text):
            continue
        elif found := VERTICAL.match(raw):
            if found[1] and name:
                yield name, found[2]
            name = "" if found[1] else found[2]
        elif pair := _pair(raw):
            yield pair
        else:
            source.skip(line, NO_ROW)


def _pair(text: str) -> tuple[str, str] | None:
    if boxed := BOXED.match(text.strip()):
        return boxed[1], boxed[2]
    name, tab, value = text.partition("\t")
    if tab and re.fullmatch(r"\w[\w.]*", name):
        return name, value
    fields: Iterable[list[str]] = csv.reader([text])
    try:
        cells = next(iter(fields), [])
    except csv.Error:  # a carriage return within the line
        return None
    return (cells[0], cells[1]) if len(cells) == 2 and re.fullmatch(r"\w[\w.]*", cells[0]) else None
