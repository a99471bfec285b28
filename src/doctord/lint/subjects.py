"""Who is examined: the subjects whose settings a dataset holds, each with what was measured of it and of its host."""

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from doctord.analyse.sql.indexes import COMPONENT as INDEXES
from doctord.analyse.sql.role_settings import rows_in_force
from doctord.dataset.catalogue import catalogue, list_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.role_settings import COMPONENT as OF_ROLES
from doctord.lint.setting import Setting
from doctord.lint.statement import Statement, hint_setting
from doctord.lint.subject import Machine, Subject

# Component, database server and host of a subject.
Key = tuple[str, str | None, str | None]


def subjects(dataset: Dataset, statements: Sequence[Statement] = (), cpus: int | None = None) -> list[Subject]:
    """Everybody whose settings a dataset holds (the kernel also where its memory alone is known), each file of SQL."""
    told, component = dataset.frame("setting"), pl.col("component")
    # Which indexes a table has is nobody's setting.
    others = told.filter(component.ne_missing(INDEXES) & component.ne_missing(OF_ROLES))
    rows = pl.concat([others, rows_in_force(told)]).filter(pl.col("name").is_not_null() & pl.col("value").is_not_null())
    by_key: dict[Key, list[Setting]] = {}
    for row in rows.sort("ts", maintain_order=True).iter_rows(named=True):
        by_key.setdefault((row["component"], row["db"], row["host"]), []).append(_setting(row))
    for host in dataset.frame("memory")["host"].unique(maintain_order=True):
        by_key.setdefault(("kernel", None, host), [])
    merged: dict[Key, list[Setting]] = {}
    for key, held in by_key.items():
        merged.setdefault(_same_as(key, by_key), []).extend(held)
    by_host = _by_host(dataset)
    found = [
        Subject(component, db, host, tuple(held), Machine(_of(dataset if host is None else by_host(host), db), cpus))
        for (component, db, host), held in merged.items()
    ]
    found += [_of_file(file, statements, Machine(dataset, cpus)) for file in {one.file: None for one in statements}]
    for one in found:
        one.others = [other for other in found if other.host == one.host or None in (other.host, one.host)]
    return found


def _same_as(key: Key, keys: Iterable[Key]) -> Key:
    """The key of whom a file is that does not say its host, or its server's name or port: if there is just one."""
    component, db, host = key
    alike = [
        other
        for other in keys
        if other[0] == component
        and (_name(other[1]) == _name(db) or (db == component and other[1] is not None))
        and (other[2] == host or host is None)
    ]
    known = [other for other in alike if other[2] is not None and other[1] != component] or alike
    return known[0] if len({(_name(one[1]), one[2]) for one in known}) == 1 else key


def _name(db: str | None) -> str | None:
    """A server's name to be compared: Oracle's are written in capitals by some tools."""
    return db.lower() if db else None


def _by_host(dataset: Dataset) -> Callable[[str], Dataset]:
    """What a dataset tells of a host; rows that do not say whose they are count for all, and are kept once."""
    parts = {
        name: dataset.frame(name).partition_by("host", as_dict=True, maintain_order=True) for name in dataset.tables
    }
    nobodys = Dataset(
        {name: by_host.get((None,), dataset.frame(name).clear()).to_arrow() for name, by_host in parts.items()}
    )

    def of(host: str) -> Dataset:
        own = {name: by_host[host,] for name, by_host in parts.items() if (host,) in by_host}
        frames = ((name, pl.concat([nobodys.frame(name), rows]), (None,) in parts[name]) for name, rows in own.items())
        return nobodys.replaced(
            {name: (rows.sort("ts", maintain_order=True) if both else rows).to_arrow() for name, rows, both in frames}
        )

    return of


def _of(dataset: Dataset, db: str | None) -> Dataset:
    """What a dataset tells of one server; what does not say whose it is counts for everybody."""
    if db is None:
        return dataset
    names = [db.lower(), db.partition(":")[0].lower()]  # a file of figures may not say of which port it is
    is_its = pl.col("db").is_null() | pl.col("db").str.to_lowercase().is_in(names)
    frames = {name: dataset.frame(name) for name in dataset.tables}
    return Dataset({name: frame.filter(is_its) if "db" in frame.columns else frame for name, frame in frames.items()})


def _of_file(file: str, statements: Sequence[Statement], machine: Machine) -> Subject:
    held = tuple(one for one in statements if one.file == file)
    hints = tuple(hint_setting(one, hint) for one in held for hint in one.hints)
    return Subject("sql", file, None, hints, machine, statements=held)


def _setting(row: dict[str, str]) -> Setting:
    known = catalogue(list_of(row["component"], None)).get(row["name"])
    return Setting(
        component=row["component"],
        db=row["db"],
        instance=row["instance"],
        name=row["name"],
        value=row["value"],
        unit=row["unit"] or (known.unit if known else None),
        source=row["source"],
        file=row["source_file"],
        line=int(row["line"]) if row["line"] is not None else None,
    )
