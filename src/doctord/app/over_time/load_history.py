"""The load of a lake by steps: of samples for a short time, of sums for a long one, both kept in memory."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final, Generic, TypeVar

from doctord.analyse.over_time.load_steps import (
    EMPTY,
    WITHOUT_SESSIONS,
    Steps,
    coarser,
    joined,
    kinds_of,
    steps_of,
    without_sessions,
)
from doctord.app.held import cpus_of
from doctord.dataset.dataset import Dataset
from doctord.lake import load_sums
from doctord.lake.place import LakeError, LakePaths, begun
from doctord.lake.query import Lake

log = logging.getLogger(__name__)

SHORT: Final = timedelta(minutes=30)  # the longest time that is told by the samples themselves
STEPS_S: Final = ((timedelta(days=1), 10), (timedelta(days=14), 60), (timedelta.max, 600))  # of a longer time
SUM_S: Final = 10
BLOCK_S: Final = 600  # samples are kept in memory by stretches of so many seconds
MOST_BLOCKS: Final = 18
MOST_DAYS: Final = 60
MOST_TEXTS: Final = 20_000
A_DAY, A_WHILE = timedelta(days=1), timedelta(minutes=5)
SETTLED: Final = timedelta(seconds=30)  # after that nothing comes to a time any more
A_LOOK: Final = timedelta(seconds=2)  # rows that end so much later tell of a time, too
_MEASURES: Final = ("at", "active_s", "most")

Key = TypeVar("Key", bound=Hashable)


class _Kept(Generic[Key]):
    """Steps by a key, the one that was not asked for longest forgotten first."""

    def __init__(self, most: int) -> None:
        self._most, self._held = most, OrderedDict[Key, Steps]()

    def get(self, key: Key) -> Steps | None:
        """What is known of it."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key: Key, steps: Steps) -> None:
        """Know it from now on."""
        self._held[key] = steps
        while len(self._held) > self._most:
            self._held.popitem(last=False)


class LoadHistory:
    """The load of one lake. It is asked from several threads: one at a time reads what is not known yet."""

    def __init__(self, lake: Path) -> None:
        """Nothing was asked yet."""
        self._lake, self._turn = lake, threading.Lock()
        self._blocks, self._days = _Kept[int](MOST_BLOCKS), _Kept[Hashable](MOST_DAYS)
        self._joined = _Kept[Hashable](3)
        self._texts = dict[str, str]()
        self._cpus: int | None = None

    def steps(self, since: datetime, until: datetime) -> Steps:
        """The load of a time, by steps of a second, or of ten and more where the time is long.

        Raises:
            UserError: the lake cannot be read.
        """
        Lake(self._lake)  # says what is wrong where there is none
        with self._turn:
            return self._of_samples(since, until) if until - since <= SHORT else self._of_sums(since, until)

    def texts(self, statements: Sequence[str], until: datetime) -> dict[str, str]:
        """The normalised texts of statements, as far as they are known: told in the day before a moment."""
        unknown = [name for name in statements if name not in self._texts]
        if unknown:
            named = ", ".join(map(literal, unknown))
            where = {"statement": f"text IS NOT NULL AND statement_id IN ({named})"}
            rows = Lake(self._lake).dataset(until - A_DAY, until, where).frame("statement")
            if len(self._texts) > MOST_TEXTS:
                self._texts.clear()
            self._texts |= {str(name): str(text) for name, text in rows.select("statement_id", "text").iter_rows()}
        return {name: self._texts[name] for name in statements if name in self._texts}

    def cpus(self, until: datetime) -> int | None:
        """How many CPUs the hosts have together, as the minutes before a moment tell; null where they do not."""
        if self._cpus is None:
            told = cpus_of(Lake(self._lake).dataset(until - A_WHILE, until, {"cpu": "true"}))
            self._cpus = sum(told.values()) or None
        return self._cpus

    def _of_samples(self, since: datetime, until: datetime) -> Steps:
        parts = self._blocks_of(since.timestamp(), until.timestamp())
        is_settled = until < datetime.now(UTC) - SETTLED
        steps = self._together(list(parts.values()), tuple(parts) if is_settled else None)
        return steps.between(since.timestamp(), until.timestamp())

    def _blocks_of(self, since_s: float, until_s: float) -> dict[int, Steps]:
        """The stretches that hold a time, those that are not known read at once."""
        numbers = range(int(since_s // BLOCK_S), int((until_s - 1e-6) // BLOCK_S) + 1)
        known = {number: part for number in numbers if (part := self._blocks.get(number))}
        missing = [number for number in numbers if number not in known]
        read = self._read(missing[0] * BLOCK_S, (missing[-1] + 1) * BLOCK_S) if missing else EMPTY
        new = {number: read.between(number * BLOCK_S, (number + 1) * BLOCK_S) for number in missing}
        settled_s = (datetime.now(UTC) - SETTLED).timestamp()
        for number, part in new.items():
            if (number + 1) * BLOCK_S < settled_s:
                self._blocks.put(number, part)
        return {number: known.get(number) or new[number] for number in numbers}

    def _read(self, since_s: float, until_s: float) -> Steps:
        """The steps of a time as the rows tell them, those that are still being written too."""
        since, until = (datetime.fromtimestamp(moment, UTC) for moment in (since_s, until_s))
        lake, end = Lake(self._lake), until + A_LOOK
        dataset = lake.dataset(since, end, {"session": "true", "cpu": "cpu IS NULL"})
        if dataset.frame("session").is_empty():
            dataset = Dataset.joined((dataset, lake.dataset(since, end, {"wait": "true"})))
        return steps_of(dataset, is_growing=until > datetime.now(UTC) - SETTLED)

    def _of_sums(self, since: datetime, until: datetime) -> Steps:
        step_s = next(step_s for longest, step_s in STEPS_S if until - since <= longest)
        of_day = dict[str, list[str]]()
        for name, day in load_sums.sealed(self._lake).items():
            if since.date().isoformat() <= day <= until.date().isoformat():
                of_day.setdefault(day, []).append(name)
        parts = [self._day(step_s, tuple(names)) for names in of_day.values()]
        steps = self._together(parts, (step_s, *map(tuple, of_day.values())))
        unsealed = [start for path in LakePaths(self._lake).segments() if (start := begun(path.stem))]
        if unsealed and min(unsealed) < until:
            begin_s = max(min(unsealed), since).timestamp()
            newest = self._together(list(self._blocks_of(begin_s, until.timestamp()).values()), None)
            newest = coarser(without_sessions(newest.between(begin_s, until.timestamp())), step_s)
            steps = self._together([steps, newest], None)
        return steps.between(since.timestamp(), until.timestamp())

    def _day(self, step_s: int, names: tuple[str, ...]) -> Steps:
        if (known := self._days.get((step_s, *names))) is None:
            known = self._together([coarser(part, step_s) for part in sums(self._lake, names)], None)
            self._days.put((step_s, *names), known)
        return known

    def _together(self, parts: Sequence[Steps], key: Hashable) -> Steps:
        """Several times in one; kept under a key, where there is one."""
        if key is not None and (known := self._joined.get(key)):
            return known
        told = [part for part in parts if not part.looked.is_empty()] or [EMPTY]
        step_s = max(part.step_s for part in told)
        found = joined([coarser(part, step_s) for part in told])
        if key is not None:
            self._joined.put(key, found)
        return found


@lru_cache(maxsize=8)
def history_of(lake: Path) -> LoadHistory:
    """The one history of a lake, with what it keeps in memory."""
    return LoadHistory(lake)


def literal(text: str) -> str:
    """A text as SQL has it.

    >>> literal("it's")
    "'it''s'"
    """
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def sums(lake: Path, names: Sequence[str]) -> Iterator[Steps]:
    """The load of sealed segments by ten seconds: those of which sums are kept in one, the others one by one."""
    held = load_sums.kept(lake, names)
    if held is not None:
        sound, active, looked = held
        names = [name for name in names if name not in sound]
        columns = [column for column in active.columns if column not in _MEASURES]
        kinds, kind = kinds_of(active, columns)
        yield Steps(SUM_S, kinds, active.select("at", kind, "active_s", "most"), looked)
    yield from (summed(lake, name) for name in names)


def summed(lake: Path, name: str) -> Steps:
    """The load of a sealed segment by ten seconds, as its rows tell; it is kept where the lake may be written to."""
    rows = load_sums.rows_of(lake, name)
    if not rows:  # all that there is are sums that are damaged: `doctord repair` is to have them
        return EMPTY
    steps = coarser(steps_of(Dataset(rows), WITHOUT_SESSIONS), SUM_S)
    if steps.step_s == SUM_S:
        try:
            by_kind = steps.active.sort("kind", "at").join(steps.kinds, "kind", maintain_order="left")
            load_sums.keep(lake, name, by_kind.drop("kind"), steps.looked)
        except LakeError as error:
            log.debug("not kept: %s", error)
    return steps
