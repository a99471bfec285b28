"""What `doctord size` does: the figures of a question, from options or from what was measured, and its answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import polars as pl
import typer

from doctord.analyse.sizing import found
from doctord.analyse.sizing.found import Measured
from doctord.analyse.sizing.question import Curve, Input, Question
from doctord.analyse.sizing.working import Assumed, Given, Quantity
from doctord.chart.chart import Chart
from doctord.cli import _lint, _verdict
from doctord.cli._amounts import parse_amount
from doctord.cli.arguments import Refusal, one_source
from doctord.printable import json_text
from doctord.read.source import Told
from doctord.report import sizing


def answer(
    question: Question,
    paths: Sequence[Path],
    *,
    lake: Path | None,
    live: bool,
    db: str | None,
    since: str | None,
    until: str | None,
    json: bool,
    **given: str | None,
) -> int:
    """Print the answer to a question; the exit status.

    Raises:
        Refusal: a figure is missing or wrong, or nothing can be read.
    """
    one_source(paths, lake)
    if live and (paths or lake):
        raise Refusal("either this host now, or files or a lake", "leave out --live")
    told = {one.option: parse_amount(text, one) for one in question.inputs if (text := given[_name(one)]) is not None}
    seen = _seen(paths, lake, since, until, live=live)
    if seen and db:
        seen = Measured(_of_server(seen.chart, db), seen.trace)
    figures = {one: told.get(one.option) or _found(one, seen) for one in question.inputs}
    missing = [one for one, figure in figures.items() if figure is None and one.needed]
    if missing:
        _ask_for(question, missing, seen, live=live)
    worked = question.work(**{_name(one): figure for one, figure in figures.items()})
    known = [figure for figure in figures.values() if isinstance(figure, Given)]
    if json:
        typer.echo(json_text(sizing.document(question, worked, known)))
    else:
        typer.echo(sizing.render(question, worked, known))
    return 1 if worked.fits is False else 0


def _seen(
    paths: Sequence[Path], lake: Path | None, since: str | None, until: str | None, *, live: bool
) -> Measured | None:
    """What files, a lake or this host tell; null where the user names none of them."""
    if live:
        return Measured(_lint.chart_of([], [], None, "-1h", "now"))
    if not paths and lake is None:
        return None
    chart, _, trace = _verdict.examined(paths, Told(), lake, since, until, "0s")
    return Measured(chart, trace)


def _found(asked: Input, seen: Measured | None) -> Quantity | Curve | None:
    """An input as it was measured, else as it is assumed; null where it is neither."""
    figure = found.find(asked, seen) if seen else None
    if figure is None and asked.assumed is not None:
        return Assumed(asked.name, asked.assumed, asked.unit, asked.because)
    return figure


def _of_server(chart: Chart, db: str) -> Chart:
    """What a chart tells of one database server, and of its host."""
    frames = {name: chart.frame(name) for name in chart.tables}
    of_servers = {name: frame for name, frame in frames.items() if "db" in frame.columns}
    servers = sorted({one for frame in of_servers.values() for one in frame["db"].drop_nulls().unique()})
    if db not in servers:
        held = f"there are: {', '.join(servers)}" if servers else "there is none in what was read"
        raise Refusal(f"no database server {db!r}", held)
    ours = {name: frame.filter(pl.col("db").is_null() | (pl.col("db") == db)) for name, frame in of_servers.items()}
    return Chart({name: frame.to_arrow() for name, frame in (frames | ours).items()})


def _ask_for(question: Question, missing: Sequence[Input], seen: Measured | None, *, live: bool) -> NoReturn:
    """Refuse for want of figures: what they are, how to give them, and where they may be found."""
    names = " and ".join(one.name for one in missing)
    hints = [f"--{one.option}: {one.help.rstrip('.')}" for one in missing]
    where = dict.fromkeys(text for one in missing if (text := found.where(one)))
    if where and seen is None:
        hints.append(f"or files or a lake that hold it: {'; '.join(where)}")
    if live:
        hints.append("or a lake: rates need longer than --live looks (doctord record)")
    raise Refusal(f"size {question.name} lacks: {names}", "; ".join(hints))


def _name(asked: Input) -> str:
    return asked.option.replace("-", "_")
