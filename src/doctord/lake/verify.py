"""Whether a lake is what was written to it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, Literal

import polars as pl

from doctord._native import read_checks, read_segment
from doctord.dataset.tables import TABLES
from doctord.lake.place import LakeError, LakePaths, begun
from doctord.lake.rollup_files import damage_of, folder, index_file, read_index
from doctord.lake.sealed import Interval, examined, readable

Kind = Literal["damaged", "foreign", "misplaced", "left_over", "unchecked"]

_HARMLESS: Final = ("unchecked", "left_over")


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a file.

    Attributes:
        path: The file.
        kind: `damaged`: not what was written; `foreign`: nothing of this lake; `misplaced`: its rows are of other days
            than its folder, and not found there; `left_over`: of a write that a crash ended; `unchecked`: written
            without checksums by an older doctord, and readable.
        text: What was seen.
    """

    path: Path
    kind: Kind
    text: str

    @property
    def is_harmless(self) -> bool:
        """Whether nothing is lost by it."""
        return self.kind in _HARMLESS


@dataclass
class Verified:
    """What was looked at, in the lake of this folder, and what was wrong with it."""

    root: Path
    files: int = 0
    size_bytes: int = 0
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        """Whether nothing was lost."""
        return all(flaw.is_harmless for flaw in self.flaws)


def verify(place: LakePaths, progress: Callable[[int], None] = lambda _: None) -> Verified:
    """Read every file of a lake to its end. Nothing is changed.

    Args:
        place: The lake; a recorder may be writing to it.
        progress: Called with the number of files done.

    Raises:
        LakeError: There is no lake.
    """
    if not (place.open.is_dir() or place.sealed.is_dir()):
        raise LakeError(f"{place.root}: no lake here", "name the folder of a lake, or record one with `doctord record`")
    verified = Verified(place.root)
    for path, flaws in _looked_at(place):
        verified.files += 1
        verified.size_bytes += path.stat().st_size if path.is_file() else 0
        verified.flaws += flaws
        progress(verified.files)
    return verified


def _looked_at(place: LakePaths) -> Iterator[tuple[Path, list[Flaw]]]:
    for path in sorted(place.open.iterdir() if place.open.is_dir() else ()):
        yield path, list(_of_segment(path))
    for path in sorted(place.sealed.glob("*/*/*")):
        yield path, list(_of_sealed(path))
    for path in sorted(folder(place.root).glob("*/*.parquet")):
        yield path, list(_of_sums(path))
    if (index := index_file(place.root)).exists():
        yield index, list(_of_index(index))


def _of_segment(path: Path) -> Iterator[Flaw]:
    if path.suffix != ".segment" or begun(path.stem) is None:
        yield Flaw(path, "foreign", "not named like a segment")
        return
    try:
        troubles = read_segment(path)[1]
    except FileNotFoundError:
        return  # sealed meanwhile
    except (OSError, ValueError) as error:
        yield Flaw(path, "damaged", str(error))
        return
    for offset, reason, length in troubles:
        kind: Kind = "damaged" if reason == "damaged" else "left_over"
        yield Flaw(path, kind, f"{length} bytes at offset {offset} are {reason}")


def _of_sealed(path: Path) -> Iterator[Flaw]:
    table, day = path.parts[-3:-1]
    if path.suffix == ".unfinished" and begun(path.stem):
        yield Flaw(path, "left_over", "not finished when it was being written")
        return
    if table not in TABLES or path.suffix != ".parquet" or begun(path.stem) is None or not _is_day(day):
        yield Flaw(path, "foreign", "not named like a file of the lake")
        return
    sound = examined(path, table, Interval())
    if sound is None:
        return  # retention took it
    for problem in sound.problems:
        yield Flaw(path, "damaged", problem.removesuffix("; skipped"))
    if not sound.is_whole:
        return
    if not sound.is_checked:
        if reason := readable(path):
            yield Flaw(path, "damaged", reason)
            return
        yield Flaw(path, "unchecked", "written without checksums")
    if (days := _days_of(path)) - {day}:
        yield Flaw(path, "misplaced", f"its rows are of {', '.join(sorted(days))}")


def _of_sums(path: Path) -> Iterator[Flaw]:
    if damage := damage_of(path):
        yield Flaw(path, "damaged", damage)


def _of_index(path: Path) -> Iterator[Flaw]:
    try:
        read_index(path.parent.parent)
    except LakeError as error:
        yield Flaw(path, "damaged", str(error))


def _is_day(name: str) -> bool:
    try:
        return date.fromisoformat(name).isoformat() == name
    except ValueError:
        return False


def _days_of(path: Path) -> set[str]:
    """Days of the first and the last row; none where they are not known."""
    checks = read_checks(path)
    span = checks[0] if checks else _span_by_parquet(path)
    return {datetime.fromtimestamp(moment // 1_000_000, UTC).date().isoformat() for moment in span or ()}


def _span_by_parquet(path: Path) -> tuple[int, int] | None:
    times = pl.scan_parquet(path).select(pl.col("ts").min().alias("first"), pl.col("ts").max().alias("last")).collect()
    first, last = (times[name].cast(pl.Datetime("us")).to_physical()[0] for name in ("first", "last"))
    return None if first is None else (first, last)
