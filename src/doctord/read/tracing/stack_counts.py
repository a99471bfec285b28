"""How often stacks were seen: maps of bpftrace, stacks of DTrace with their count below, folded ones (`a;b;c 12`).

`statistic` (component `kernel`, name `stack.samples`, kind gauge): a row for each stack, the entity its frames from the
outermost to the innermost with `;` between them, offsets (`+0x1f`) left out. Keys of a map that are no frames (a name
of a process) stand before them. No time is in it: a note says so.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "counts of stacks (bpftrace, DTrace, folded)"
RANK = Rank.SHAPE
NO_TIME: Final = "stacks are counted, not timed: a count says how often, and only of a profile how long"
NO_STACK: Final = "no part of a stack"
BEGINS: Final = regex(r"@\w*\[\s*$")
ENDS: Final = regex(r"\](?:,? ?(\w.*?))?: (\d+)$")
FRAME: Final = regex(r"([\w.$/-]+`)?[\w.$:~<>*&(), @/\[\]-]+\+(?:0x[0-9a-f]+|\d+)$")
NATIVE: Final = regex(r"[\w.$/-]+`[\w.$:~<>*&(), @-]+(?:\+(?:0x[0-9a-f]+|\d+))?$")
OFFSET: Final = regex(r"\+(?:0x[0-9a-f]+|\d+)$")
COUNT: Final = regex(r"\d+$")
FOLDED: Final = regex(r"[^;|\s][^;|]*(?:;[^;|]+)+ (\d+)$")
LOOKED_AT: Final = 200


def sniff(head: str) -> bool:
    """Whether a stack with its count is among its first lines."""
    lines = [line.strip() for line in head.splitlines()[:LOOKED_AT]]
    told = [line for line in lines if line]
    folded = sum(FOLDED.match(line) is not None for line in told)
    if told and folded >= 2 and folded >= len(told) - 1:
        return True
    return (any(map(BEGINS.match, lines)) and any(map(ENDS.match, lines))) or _is_dtrace(told)


def _is_dtrace(told: list[str]) -> bool:
    """Whether two frames of modules and a number below follow each other."""
    triples = zip(told, told[1:], told[2:], strict=False)
    return any(NATIVE.match(a) and NATIVE.match(b) and (NATIVE.match(c) or COUNT.fullmatch(c)) for a, b, c in triples)


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    seen = Counter[str]()
    for stack, count in _stacks(source):
        seen[stack] += count
    source.note(NO_TIME)
    about = {"ts": micros(untimed(source, 1)[0]), "host": source.host, "component": "kernel", "name": "stack.samples",
             "unit": "samples", "kind": "gauge"}  # fmt: skip
    if seen:
        yield rows("statistic", [about | {"entity": stack, "value": float(count)} for stack, count in seen.items()])


def _stacks(source: SourceFile) -> Iterator[tuple[str, int]]:
    """Stacks, outermost frame first, and counts."""
    frames, in_map, has_begun = list[str](), False, False
    for number, raw in source.lines():
        line = raw.strip()
        ended = ENDS.match(line) if in_map else None
        if BEGINS.match(line):
            frames, in_map = [], True
        elif ended or (frames and not in_map and COUNT.fullmatch(line)):
            named = [ended[1]] if ended and ended[1] else []
            yield _joined([*named, *reversed(frames)]), int(ended[2] if ended else line)
            frames, in_map, has_begun = [], False, True
        elif in_map:
            frames += [line.rstrip(",")] if line.rstrip(",") else []
        elif NATIVE.match(line) or (frames and FRAME.match(line)):
            frames.append(line)
        elif found := FOLDED.match(line):
            yield _joined(line.rpartition(" ")[0].split(";")), int(found[1])
            has_begun = True
        elif line and has_begun:
            source.skip(number, NO_STACK)


def _joined(frames: list[str]) -> str:
    return ";".join(OFFSET.sub("", frame).strip() for frame in frames if frame)
