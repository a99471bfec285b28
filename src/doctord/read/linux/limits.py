"""Limits of users: /etc/security/limits.conf and limits.d.

It yields `setting`, component `limits`, named `DOMAIN.TYPE.ITEM` (`oracle.soft.memlock`; `-` stands for both types and
gives two rows). Sizes are in KiB, as the file has them, with the unit `kB`; a limit that is none is `unlimited`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "limits.conf"
RANK = Rank.SHAPE
ITEMS: Final = "core|data|fsize|memlock|nofile|rss|stack|cpu|nproc|as|maxlogins|maxsyslogins|priority|locks|sigpending"
ITEMS_MORE: Final = "msgqueue|nice|rtprio|nonewprivs|chroot"
LINE: Final = regex(rf"\s*(\S+)\s+(soft|hard|-)\s+({ITEMS}|{ITEMS_MORE})\s+(-?\d+|unlimited|infinity|\S+)\s*(?:#.*)?$")
IN_KIB: Final = frozenset({"core", "data", "fsize", "memlock", "rss", "stack", "as"})
NONE: Final = frozenset({"-1", "infinity", "unlimited"})


def sniff(head: str) -> bool:
    """Whether its lines are limits."""
    lines = [line for line in head.splitlines()[:200] if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and sum(LINE.match(line) is not None for line in lines) * 2 > len(lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    found = list[dict[str, Any]]()
    for line, raw in source.lines():
        if match := LINE.match(raw):
            found += _rows(line, match)
        elif raw.strip() and not raw.lstrip().startswith("#"):
            source.skip(line, "not a limit")
    if found:
        common = {"ts": micros(last_written(source)), "host": source.host, "component": "limits"}
        common |= {"source": FROM_FILE, "source_file": source.name}
        yield rows("setting", [common | row for row in found])


def _rows(line: int, match: re.Match[str]) -> Iterator[dict[str, Any]]:
    domain, kind, item, value = match.groups()
    for each in ("soft", "hard") if kind == "-" else (kind,):
        yield {
            "name": f"{domain}.{each}.{item}",
            "value": "unlimited" if value in NONE else value,
            "unit": "kB" if item in IN_KIB else None,
            "line": line,
        }
