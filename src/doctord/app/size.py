"""Answer a question of size: by figures that the user gives, or that were measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import polars as pl

from doctord.analyse.sizing import found
from doctord.analyse.sizing.found import Measured
from doctord.analyse.sizing.question import Curve, Input, Question, Sizing
from doctord.analyse.sizing.working import Assumed, Given, Quantity
from doctord.app import lint
from doctord.app.asked import ALL, Interval
from doctord.app.size_amounts import parse_amount
from doctord.app.source import Source
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError


@dataclass(frozen=True, slots=True)
class Answer:
    """What follows for a question, and the figures that it rests on."""

    question: Question
    worked: Sizing
    known: Sequence[Given]

    @property
    def healthy(self) -> bool:
        """Whether nothing that is there now does not fit."""
        return self.worked.fits is not False


def answer(
    question: Question,
    texts: Mapping[str, str | None],
    source: Source | None,
    asked: Interval = ALL,
    db: str | None = None,
    *,
    live: bool = False,
    watcher: Watcher = SILENT,
) -> Answer:
    """Answer a question by what the user wrote, and by what a source tells, or this host now.

    Args:
        question: What is asked.
        texts: What the user wrote for each input, by the name that it has in Python.
        source: Where other figures may be found; null: nowhere.
        asked: The interval of it.
        db: The database server that counts, where there are several.
        live: Whether to ask this host and its servers instead.
        watcher: Who is told how it goes on.

    Raises:
        UserError: a figure is missing or wrong, nothing can be read, or both a source and this host are asked for.
    """
    if live and source:
        raise UserError("either this host now, or files or a lake", "leave out --live")
    written = {one: texts[name_of(one)] for one in question.inputs}
    told = {one: parse_amount(text, one) for one, text in written.items() if text is not None}
    seen: Measured | None = None
    if live:
        seen = measured_now(watcher)
    elif source:
        seen = measured(source, asked, watcher)
    return size(question, told, seen, db, live=live)


def size(
    question: Question,
    told: Mapping[Input, Given | Curve],
    seen: Measured | None = None,
    db: str | None = None,
    *,
    live: bool = False,
) -> Answer:
    """Answer a question.

    Args:
        question: What is asked.
        told: Figures that the user gives; they go before those that were measured.
        seen: What was measured, where there is anything.
        db: The database server that counts, where several were seen.
        live: Whether it was measured just now, for seconds: that is too short for rates.

    Raises:
        UserError: a figure is missing, or there is no such server.
    """
    if seen and db:
        seen = Measured(_of_server(seen.dataset, db), seen.trace)
    figures = {one: told.get(one) or _found(one, seen) for one in question.inputs}
    missing = [one for one, figure in figures.items() if figure is None and one.needed]
    if missing:
        _ask_for(question, missing, seen, live=live)
    worked = question.work(**{name_of(one): figure for one, figure in figures.items()})
    return Answer(question, worked, [figure for figure in figures.values() if isinstance(figure, Given)])


def measured(source: Source, asked: Interval, watcher: Watcher = SILENT) -> Measured:
    """What a source tells of an interval.

    Raises:
        UserError: it cannot be read, or tells nothing of that time.
    """
    seen = source.seen(asked, watcher)
    return Measured(seen.dataset, seen.trace)


def measured_now(watcher: Watcher = SILENT) -> Measured:
    """What this host and its servers tell now."""
    return Measured(lint.settings([], watcher=watcher))


def _found(asked: Input, seen: Measured | None) -> Quantity | Curve | None:
    """An input as it was measured, else as it is assumed; null where it is neither."""
    figure = found.find(asked, seen) if seen else None
    if figure is None and asked.assumed is not None:
        return Assumed(asked.name, asked.assumed, asked.unit, asked.because)
    return figure


def _of_server(dataset: Dataset, db: str) -> Dataset:
    """What a dataset tells of one database server, and of its host."""
    frames = {name: dataset.frame(name) for name in dataset.tables}
    of_servers = {name: frame for name, frame in frames.items() if "db" in frame.columns}
    servers = sorted({one for frame in of_servers.values() for one in frame["db"].drop_nulls().unique()})
    if db not in servers:
        held = f"there are: {', '.join(servers)}" if servers else "there is none in what was read"
        raise UserError(f"no database server {db!r}", held)
    ours = {name: frame.filter(pl.col("db").is_null() | (pl.col("db") == db)) for name, frame in of_servers.items()}
    return Dataset({name: frame.to_arrow() for name, frame in (frames | ours).items()})


def _ask_for(question: Question, missing: Sequence[Input], seen: Measured | None, *, live: bool) -> NoReturn:
    """Refuse for want of figures: what they are, how to give them, and where they may be found."""
    names = " and ".join(one.name for one in missing)
    hints = [f"--{one.option}: {one.help.rstrip('.')}" for one in missing]
    where = dict.fromkeys(text for one in missing if (text := found.where(one)))
    if where and seen is None:
        hints.append(f"or files or a lake that hold it: {'; '.join(where)}")
    if live:
        hints.append("or a lake: rates need longer than --live looks (doctord record)")
    raise UserError(f"size {question.name} lacks: {names}", "; ".join(hints))


def name_of(asked: Input) -> str:
    """What an input is called in Python."""
    return asked.option.replace("-", "_")
