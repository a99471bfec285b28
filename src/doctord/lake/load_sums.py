"""Sums of the load by ten seconds, kept when the samples go: of each sealed segment two files.

```
LAKE/rollups/load-10s/20261120T230000Z-1f2e3d4c.parquet     seconds that sessions of each kind were at work
LAKE/rollups/looked-10s/20261120T230000Z-1f2e3d4c.parquet   seconds that were looked at; written last
```
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa

from doctord.lake.parquet_file import write_checked
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, begun
from doctord.lake.rollup_files import damage_of, folder
from doctord.lake.sealed import Interval, examined
from doctord.lake.whole_tables import rows_between

ACTIVE, LOOKED = "load-10s", "looked-10s"
TELLING: Final = ("cpu", "session")  # tables of which a segment must have one to tell of the load
OF_WAITS: Final = "wait"
_BEGINNING, _END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def sealed(lake: Path) -> dict[str, str]:
    """Names of the sealed segments that tell of the load, each with its day; those of which only sums are left, too."""
    place = LakePaths(lake)
    found = {path.stem: path.parent.name for table in (*TELLING, OF_WAITS) for path in place.parquet(table)}
    for path in (folder(lake) / LOOKED).glob("*.parquet"):
        if (start := begun(path.stem)) is not None:
            found.setdefault(path.stem, start.date().isoformat())
    return {name: found[name] for name in sorted(found) if begun(name)}


def missing(lake: Path) -> list[str]:
    """Names of the sealed segments of which there are no sums yet, the newest first."""
    there = {path.stem for path in (folder(lake) / LOOKED).glob("*.parquet")}
    return [name for name in reversed(sealed(lake)) if name not in there]


def rows_of(lake: Path, name: str) -> Mapping[str, pl.DataFrame]:
    """What a sealed segment of this name tells of the load: sessions, or else waits; and the CPUs' rows."""
    found = _rows(lake, name, TELLING)
    return found if "session" in found else found | _rows(lake, name, (OF_WAITS,))


def _rows(lake: Path, name: str, tables: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    found = dict[str, pl.DataFrame]()
    for table in tables:
        for path in LakePaths(lake).sealed.glob(f"{table}/*/{name}.parquet"):
            sound = examined(path, table, Interval())
            if sound is not None and sound.is_whole:
                rows = rows_between(table, [path], [], _BEGINNING, _END)
                if rows is not None:
                    found[table] = rows
    return found


def kept(lake: Path, names: Sequence[str]) -> tuple[list[str], pl.DataFrame, pl.DataFrame] | None:
    """The segments of these of which there are sums that are sound; what was active in them, and looked at.

    Null where there is none.

    Raises:
        LakeError: they are gone meanwhile.
    """
    paths = {name: [folder(lake) / rollup / f"{name}.parquet" for rollup in (ACTIVE, LOOKED)] for name in names}
    sound = [
        name
        for name, of_name in paths.items()
        if all(path.is_file() for path in of_name) and not any(damage_of(path) for path in of_name)
    ]
    if not sound:
        return None
    try:
        active, looked = (
            pl.concat([pl.read_parquet(paths[name][which]) for name in sound], how="diagonal") for which in (0, 1)
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise LakeError(f"{folder(lake)}: {str(error).splitlines()[0]}", "it was just deleted: try again") from error
    return sound, active, looked


def keep(lake: Path, name: str, active: pl.DataFrame, looked: pl.DataFrame) -> None:
    """Keep the sums of a segment.

    Raises:
        LakeError: they cannot be written.
    """
    try:
        for rollup, rows in ((ACTIVE, active), (LOOKED, looked)):
            path = folder(lake) / rollup / f"{name}.parquet"
            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            write_checked(path, _plain(rows.to_arrow()))
    except OSError as error:
        raise LakeError(f"{folder(lake)}: {error.strerror}", "let who may write to the lake run this") from error


def expire(lake: Path, keep_for: timedelta) -> None:
    """Delete the sums of segments that are older, and of which no rows are left."""
    oldest = datetime.now(UTC) - keep_for
    there = {path.stem for table in (*TELLING, OF_WAITS) for path in LakePaths(lake).parquet(table)}
    for rollup in (ACTIVE, LOOKED):
        for path in (folder(lake) / rollup).glob("*.parquet"):
            if path.stem not in there and ((start := begun(path.stem)) is None or start < oldest):
                path.unlink(missing_ok=True)


def _plain(rows: pa.Table) -> pa.Table:
    """Texts as every reader of Parquet knows them."""
    kinds = [pa.string() if pa.types.is_large_string(kind) else kind for kind in rows.schema.types]
    return rows.cast(pa.schema(list(zip(rows.schema.names, kinds, strict=True))))
