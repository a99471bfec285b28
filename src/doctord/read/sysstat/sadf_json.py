"""JSON of `sadf -j FILE -- SWITCHES`, of any version: a section for each switch.

Tables, names and what is left out are those of sar's text; JSON says the same figures. Times are in UTC unless sadf was
told otherwise (`"utc": 0`): then the zone is that of `--zone`, or UTC is assumed. Restarts become events.
"""

from collections.abc import Iterator

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.scan import scan
from doctord.regex import regex

NAME = "sadf's JSON"
RANK = Rank.NAMED
BEGIN = regex(r'\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"')
ARCHIVE = regex(r'"file-date"|"timestamp"\s*:\s*\{')


def sniff(head: str) -> bool:
    """Whether it begins as sadf's JSON does, and not as that of iostat, mpstat or pidstat."""
    return bool(BEGIN.match(head) and ARCHIVE.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the document, or of several one after another."""
    yield from scan("json", source, source.chunks())
