"""/etc/nsswitch.conf: where names of hosts, users and the like are looked up, and in which order.

It yields `setting` (component `nsswitch`): the database (`hosts`), and its sources with single blanks, with what stands
in brackets (`[NOTFOUND=return]`). `#` begins a comment.
"""

from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "nsswitch.conf"
RANK = Rank.NAMED
LINE: Final = regex(r"(\w+):\s+(\S.*)$")
DATABASES: Final = frozenset({"passwd", "group", "shadow", "hosts", "ipnodes", "networks", "services", "protocols",
                              "netgroup", "netmasks", "ethers", "rpc", "aliases", "automount"})  # fmt: skip
NO_DATABASE: Final = "no database with its sources"
SOURCES: Final = regex(r"\[.*?\]|[\w-]+")


def sniff(head: str) -> bool:
    """Whether two of its databases have sources, and nothing else is there."""
    lines = [line for line in map(_told, head.splitlines()) if line]
    names = [found[1] for line in lines if (found := LINE.match(line))]
    return len(DATABASES & set(names)) > 1 and len(names) >= len(lines) - 1


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `setting`."""
    about = {"ts": micros(last_written(source)), "host": source.host, "component": "nsswitch", "source": FROM_FILE,
             "source_file": source.name}  # fmt: skip
    held = []
    for number, text in source.lines():
        line = _told(text)
        if found := LINE.match(line):
            value = " ".join(SOURCES.findall(found[2]))
            held.append(about | {"name": found[1], "value": value, "line": number})
        elif line:
            source.skip(number, NO_DATABASE)
    if held:
        yield rows("setting", held)


def _told(line: str) -> str:
    return line.partition("#")[0].strip()
