"""Figures worth keeping for years, as data: which column of which table, of whom, and how it is averaged.

`figures.toml` beside this file holds those that Doctor D keeps; a user's file of the same form adds to them.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, get_args

import polars as pl

from doctord.dataset.tables import TABLES
from doctord.errors import UserError

Component = Literal[
    "workload", "waits", "redo", "undo", "memory", "parallel", "io", "locks", "tables", "space", "datafiles", "cpu",
    "host memory", "storage", "network",
]  # fmt: skip
Sum = Literal["mean", "max", "min", "last"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    Attributes:
        name: Its own, in `snake_case` with its unit at the end.
        title: What people call it.
        component: Part of the host that it belongs to.
        table: Table of the dataset that it is made of.
        value: SQL expression over that table's columns.
        unit: Unit of the value.
        where: SQL condition on that table's rows; empty: all.
        each: Columns beside `host` and `db` by which there is one series each.
        weight: SQL expression of a row's weight in a mean.
        sum: How the rows of one step become one value.
        worse: Whether high or low values are the bad ones.
    """

    name: str
    title: str
    component: Component
    table: str
    value: str
    unit: str
    where: str = ""
    each: tuple[str, ...] = ()
    weight: str = "interval_s"
    sum: Sum = "mean"
    worse: Literal["high", "low"] = "high"


@lru_cache(maxsize=1)
def own_figures() -> tuple[Figure, ...]:
    """The figures that Doctor D keeps."""
    return parsed(files("doctord.dataset").joinpath("figures.toml").read_text(encoding="utf-8"), "figures.toml")


def parsed(text: str, name: str) -> tuple[Figure, ...]:
    """The figures of a text in TOML.

    Args:
        text: What the file holds.
        name: Of the file, for messages.

    Raises:
        UserError: it is not of that form; the message names the figure and what is wrong with it.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: no TOML: {error}", "docs/how-to/keep-capacity.md shows the form") from error
    found = [_figure(given, name) for given in document.get("figure", [])]
    _check_names(found, name)
    return tuple(found)


def _figure(given: dict[str, Any], file: str) -> Figure:
    name = str(given.get("name", "a figure without a name"))
    known = {field.name for field in fields(Figure)}
    if unknown := given.keys() - known:
        raise _wrong(file, name, f"there is no key {sorted(unknown)[0]!r}", f"keys are {', '.join(sorted(known))}")
    try:
        figure = Figure(**given | {"each": tuple(given.get("each", ()))})
    except TypeError as error:
        missing = str(error).rpartition("argument")[2].lstrip("s: ")
        raise _wrong(file, name, f"without {missing}", "each of them must be there") from error
    for key, choice, choices in (
        ("table", figure.table, tuple(TABLES)),
        ("component", figure.component, get_args(Component)),
        ("sum", figure.sum, get_args(Sum)),
        ("worse", figure.worse, ("high", "low")),
    ):
        if choice not in choices:
            raise _wrong(file, name, f"{key} is {choice!r}", f"it is one of {', '.join(choices)}")
    if unknown := set(figure.each) - set(TABLES[figure.table].columns_named):
        raise _wrong(file, name, f"{figure.table} has no column {sorted(unknown)[0]!r}", "docs/reference/tables.md")
    for key, expression in (("value", figure.value), ("where", figure.where or "true"), ("weight", figure.weight)):
        _check_expression(figure.table, key, expression, file, name)
    return figure


def _check_expression(table: str, key: str, expression: str, file: str, name: str) -> None:
    try:
        used = pl.sql_expr(expression).meta.root_names()
    except (pl.exceptions.SQLSyntaxError, pl.exceptions.SQLInterfaceError) as error:
        raise _wrong(
            file, name, f"{key} is no SQL expression: {error}", "it is one over the table's columns"
        ) from error
    if unknown := set(used) - set(TABLES[table].columns_named):
        raise _wrong(file, name, f"{table} has no column {sorted(unknown)[0]!r}", "docs/reference/tables.md")


def _check_names(figures: Iterable[Figure], file: str) -> None:
    seen = set[str]()
    for figure in figures:
        if figure.name in seen:
            raise _wrong(file, figure.name, "there are two of that name", "give one of them another")
        seen.add(figure.name)


def _wrong(file: str, name: str, what: str, hint: str) -> UserError:
    return UserError(f"{file}: figure {name!r}: {what}", hint)
