"""What ran when, as testers write it down: `NAME start TIME` and `NAME end TIME`, a line each; a `#` begins a comment.

It yields `event`, kind `label`: subject NAME (null in a line without one), text `start` or `end`. Times are those of
ISO 8601.
"""

from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.moments import placed_moment
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "labels"
RANK = Rank.SHAPE
MOMENT: Final = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?"
LINE: Final = regex(rf"(?:(\S.*?)\s+)?(start|end|begin|stop)\s+({MOMENT})$")
WORDS: Final = {"begin": "start", "stop": "end"}


def sniff(head: str) -> bool:
    """Whether its first lines are such labels."""
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("#")][:3]
    return bool(lines) and all(LINE.match(line.strip()) for line in lines)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `event`."""
    held = []
    for line, text in source.lines():
        if not text.strip() or text.startswith("#"):
            continue
        found = LINE.match(text.strip())
        moment = placed_moment(f"{found[3][:10]}{'T' if found[4] else ' '}{found[3][11:]}", source) if found else None
        if found is None or moment is None:
            source.skip(line, "no label: NAME start|end TIME")
            continue
        word = WORDS.get(found[2], found[2])
        held.append({"ts": micros(moment), "host": source.host, "kind": "label", "subject": found[1], "text": word})
    if held:
        yield rows("event", held)
