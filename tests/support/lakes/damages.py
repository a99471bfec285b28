"""Random damage to the files of a lake, and whether anything comes out of it that was not put in.

A lake of several tables and hours, sealed and open, is damaged in one place; then it is read. Every row that is read
must be one that was written, and if one is missing, the damaged file must be named.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import ENTITIES
from doctord.lake.place import LakePaths
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
UNTIL = NOON + timedelta(hours=6)
TABLES = ("statistic", "cpu", "event")

Fingerprint = dict[str, Counter[tuple[object, ...]]]


def make(path: Path) -> Fingerprint:
    """A lake with four sealed hours and an open one; its rows."""
    for hour in range(5):
        with LakeWriter(path) as writer:
            for minute in range(20):
                at = micros(NOON + timedelta(hours=hour, minutes=minute))
                about = {"host": "h", "interval_s": 60.0}
                values = [about | {"ts": at + n, "name": f"n{n % 7}", "value": n / 7} for n in range(20)]
                writer.append(rows("statistic", values))
                writer.append(rows("cpu", [about | {"ts": at, "cpu": cpu, "usr_pct": 10.0 * cpu} for cpu in range(4)]))
                writer.append(rows("event", [about | {"ts": at, "kind": "restart", "text": f"no. {minute}"}]))
                if minute % 5 == 0:
                    writer.sync()
            if hour == 4:
                writer.sync()
                [segment] = LakePaths(path).segments()
                kept = segment.read_bytes()
    for parquet in path.glob(f"sealed/*/*/{segment.stem}.parquet"):
        parquet.unlink()
    segment.write_bytes(kept)
    return read(path)[0]


def read(path: Path) -> tuple[Fingerprint, list[str]]:
    """Every row of a lake, and what it names as damaged."""
    lake = Lake(path)
    dataset = lake.dataset(NOON - timedelta(hours=1), UNTIL, dict.fromkeys(TABLES, "true"))
    found = {table: Counter(dataset.frame(table).sort(ENTITIES[table]).rows()) for table in TABLES}
    return found, lake.problems


def _flip(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _zero(content: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(content))
    end = min(len(content), begin + chance.choice([4, 64, 512, 4096]))
    content[begin:end] = bytes(end - begin)


def _scribble(content: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(content))
    end = min(len(content), begin + chance.choice([1, 4, 64, 512, 4096]))
    content[begin:end] = chance.randbytes(end - begin)


def _cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def _grow(content: bytearray, chance: random.Random) -> None:
    content += chance.randbytes(chance.choice([1, 8, 512]))


def _shift(content: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(content))
    del content[begin : begin + chance.choice([1, 4, 512])]


def _swap(content: bytearray, chance: random.Random) -> None:
    size = chance.choice([4, 64, 512])
    one, other = (chance.randrange(max(1, len(content) - size)) for _ in range(2))
    content[one : one + size], content[other : other + size] = content[other : other + size], content[one : one + size]


DAMAGES: dict[str, Callable[[bytearray, random.Random], None]] = {
    "bit flipped": _flip,
    "zeros": _zero,
    "noise": _scribble,
    "cut off": _cut,
    "longer": _grow,
    "bytes missing": _shift,
    "blocks swapped": _swap,
}


@dataclass
class Outcome:
    """What damages did."""

    damages: int = 0
    unharmed: int = 0
    named: int = 0
    rows_missing: int = 0
    rows_written: int = 0
    silent: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)


def damaged(path: Path, written: Fingerprint, seed: int, outcome: Outcome) -> None:
    """Damage one file of a lake, read it, and put the file back."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    sealed, open_ = sorted(path.glob("sealed/*/*/*.parquet")), LakePaths(path).segments()
    file = chance.choice(open_ if chance.random() < 0.3 else sealed)
    name = chance.choice(list(DAMAGES))
    whole = file.read_bytes()
    content = bytearray(whole)
    DAMAGES[name](content, chance)
    if content == whole:
        return
    about = f"seed {seed}: {name}, {file.relative_to(path)}"
    file.write_bytes(content)
    try:
        found, problems = read(path)
        is_crash = name == "cut off" and file in open_  # between two frames nobody can tell it from one
        is_named = is_crash or any(str(file) in problem for problem in problems)
        _judge(written, found, is_named=is_named, about=about, outcome=outcome)
    except Exception as error:  # noqa: BLE001 - whatever comes out of it is what is looked for
        outcome.raised.append(f"{about}: {error!r}")
    finally:
        file.write_bytes(whole)


def _judge(written: Fingerprint, found: Fingerprint, *, is_named: bool, about: str, outcome: Outcome) -> None:
    outcome.damages += 1
    outcome.rows_written += sum(rows.total() for rows in written.values())
    missing = sum((written[table] - found[table]).total() for table in TABLES)
    false = sum((found[table] - written[table]).total() for table in TABLES)
    outcome.rows_missing += missing
    outcome.unharmed += not missing
    outcome.named += is_named
    if false or (missing and not is_named):
        outcome.silent.append(f"{about}: {false} false, {missing} missing, named: {is_named}")
