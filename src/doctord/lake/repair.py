"""Sets a lake right: damage is cut out of its files and kept aside, never deleted."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from doctord._native import seal_segment
from doctord.dataset.tables import ENTITIES
from doctord.lake.claim import Claim
from doctord.lake.parquet_file import write_checked
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, begun
from doctord.lake.rollup_files import folder, index_file, read_index, write_index
from doctord.lake.sealed import Interval, examined
from doctord.lake.verify import Flaw

log = logging.getLogger(__name__)

_LEAVE: Final = "nothing to do: what a crash cut off was never said to be safe"


def repair(place: LakePaths, flaws: Sequence[Flaw]) -> Iterator[tuple[Flaw, str]]:
    """Set right what `verify` found; for each flaw what was done.

    Raises:
        LakeError: A recorder is writing to the lake, or it may not be written to.
    """
    claim = Claim(place)
    try:
        for flaw in flaws:
            yield flaw, _repaired(place, flaw) if flaw.path.exists() else "gone by now"
    except OSError as error:
        hint = "make room, or run this as the user who records; what was done stays, and the same command goes on"
        raise LakeError(f"{place.root}: {error.strerror or error}", hint) from error
    finally:
        claim.close()


def _aside(place: LakePaths, path: Path, *, leave: bool = False) -> Path:
    return place.set_aside(path, leave=leave).relative_to(place.root)


def _repaired(place: LakePaths, flaw: Flaw) -> str:
    path = flaw.path
    if path.parent == place.open:
        return _LEAVE if flaw.kind == "left_over" else _segment(place, flaw)
    if path.is_relative_to(folder(place.root)):
        return _sums(place, flaw)
    if flaw.kind == "misplaced":
        return _misplaced(place, flaw)
    if flaw.kind == "unchecked":
        write_checked(path, pq.read_table(path))
        return "checksums added"
    if flaw.kind == "damaged" and path.is_relative_to(place.sealed):
        return _damaged(place, flaw)
    return f"set aside as {_aside(place, path)}"


def _segment(place: LakePaths, flaw: Flaw) -> str:
    began = begun(flaw.path.stem)
    done = "set aside"
    if began is not None and flaw.path.is_file():
        try:
            seal_segment(flaw.path, place.sealed, began.date().isoformat(), ENTITIES)
            done = "what is sound was sealed, the segment set aside"
        except ValueError:
            done = "nothing in it could be read; set aside"
    return f"{done} as {_aside(place, flaw.path)}"


def _damaged(place: LakePaths, flaw: Flaw) -> str:
    sound = examined(flaw.path, flaw.path.parts[-3], Interval())
    if not sound or not sound.batches:
        return f"set aside as {_aside(place, flaw.path)}"
    kept = _aside(place, flaw.path, leave=True)
    rows = pa.Table.from_batches(sound.batches)
    write_checked(flaw.path, rows)
    return f"{rows.num_rows} sound rows kept, the damaged file set aside as {kept}"


def _sums(place: LakePaths, flaw: Flaw) -> str:
    if flaw.path == index_file(place.root):
        return f"all sums set aside as {_aside(place, flaw.path.parent)}; what rows there are is summed up again"
    try:
        index = read_index(place.root)
        for rollup, files in index.files.items():
            index.files[rollup] = {period: name for period, name in files.items() if name != flaw.path.name}
        write_index(place.root, index)
    except LakeError:
        log.debug("%s: the index is damaged too, and set aside after this", flaw.path)
    return f"set aside as {_aside(place, flaw.path)}; its sums are missing from now on"


def _misplaced(place: LakePaths, flaw: Flaw) -> str:
    rows = pl.read_parquet(flaw.path)
    for (day,), part in rows.group_by(pl.col("ts").dt.date()):
        folder = place.sealed / flaw.path.parts[-3] / str(day)
        if folder != flaw.path.parent:
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
            write_checked(folder / flaw.path.name, part.to_arrow())
    rest = rows.filter(pl.col("ts").dt.date().cast(pl.String) == flaw.path.parent.name)
    kept = _aside(place, flaw.path, leave=True)
    if rest.height:
        write_checked(flaw.path, rest.to_arrow())
    else:
        flaw.path.unlink()
    return f"its rows are under their own days now, the file as it was set aside as {kept}"
