"""What the commands on thresholds do: histories of a lake or of files, held against a file of thresholds."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import typer

from doctord.analyse.capacity import alert, level, threshold
from doctord.analyse.capacity.check import Checked
from doctord.analyse.capacity.check import check as check_thresholds
from doctord.analyse.capacity.level import Judged
from doctord.analyse.capacity.pace import at_its_pace, series_at_pace
from doctord.analyse.capacity.propose import propose
from doctord.analyse.capacity.series import HOUR_S, Series
from doctord.analyse.capacity.spread import spread_of
from doctord.analyse.capacity.threshold import Rules
from doctord.chart.chart import Chart
from doctord.cli import _read
from doctord.cli._history import doubts_in, doubts_of, history, series_in, spread_between
from doctord.cli._rules import own_figures, rules_of
from doctord.cli.arguments import Refusal, note, one_source, parse_moment
from doctord.lake.history import History
from doctord.lake.place import default_lake
from doctord.lake.query import Lake
from doctord.printable import json_text
from doctord.read.source import Told
from doctord.report import thresholds as report
from doctord.report import thresholds_toml

CHECKED_STEP_S = 300
SILENT_S = 2 * HOUR_S  # figures of an hour may be one hour old


@dataclass(frozen=True, slots=True)
class Source:
    """Where the history comes from: files, or else a lake; from when to when; `usual`: since when, of a lake."""

    paths: list[Path]
    told: Told
    lake: Path | None
    since: str | None
    until: str | None
    usual: str

    def __post_init__(self) -> None:
        """Refuse both at once."""
        one_source(self.paths, self.lake)


@dataclass(frozen=True, eq=False)
class Found:
    """What a check found, and what of it could not be judged."""

    checked: Checked
    judged: list[Judged]
    unjudged: list[str]
    file: str


def check(source: Source, file: Path | None) -> Found:
    """Hold the thresholds and levels of a file, or the built-in ones, against a history."""
    rules = rules_of(file)
    if not rules.thresholds and not rules.levels:
        raise Refusal(f"{file}: there is no threshold in it", threshold.FORM)
    histories, chart = _measured(source, rules)
    judged = list(level.judged(rules.levels, chart))
    known = {one.level.name for one in judged}
    checked = check_thresholds(rules.thresholds, histories)
    _tell_silence(source, checked)
    return Found(checked, judged, [one.name for one in rules.levels if one.name not in known], str(file or "Doctor D"))


def _measured(source: Source, rules: Rules) -> tuple[list[Series], Chart]:
    """The histories that thresholds speak of, in steps of five minutes or longer, and the tables of service levels."""
    figures, tables = rules.figures_used(), {known.table for known in rules.levels}
    wanted = rules.percentiles_used()
    if source.paths:
        chart = _chart(source, {used.table for used in figures} | tables)
        _tell(doubts_of(chart, figures))
        spread = spread_of(chart, [rules.figures[name] for name in dict(wanted)])
        return [*series_at_pace(chart, figures, CHECKED_STEP_S), *spread.series(wanted)], chart
    return _kept(source, rules), _chart(source, set(tables)) if tables else Chart()


def _kept(source: Source, rules: Rules) -> list[Series]:
    """The histories of a lake, of its minutes or, where only hours are kept, of these."""
    lake, (since, until) = Lake(source.lake or default_lake()), _between(source)
    figures, wanted = rules.figures_used(), rules.percentiles_used()
    told = History(lake, figures, (since, until))
    _tell(lake.problems)
    _tell(doubts_in(lake, told, figures, since, until))
    finest_s = told.finest_s(since, until)
    if finest_s > CHECKED_STEP_S:
        _tell([f"hours are all that is kept since {since:%F %T} UTC: they are judged"])
    series = series_in(told, figures, since, until, max(CHECKED_STEP_S, finest_s))
    percentiles = spread_between(told, figures, since, until).series(wanted) if wanted else ()
    return [*map(at_its_pace, series), *percentiles]


def _tell_silence(source: Source, checked: Checked) -> None:
    """Say so where "now" is long ago, as of a lake that nobody fills any more."""
    until = parse_moment(source.until or "now")
    if not source.paths and checked.now and (until - checked.now).total_seconds() > SILENT_S:
        note(f"nothing was measured after {checked.now:%F %T} UTC; that is taken for now")


def status(found: Found) -> int:
    """0 when nothing is violated now, 1 when something is, 2 when nothing was measured to tell."""
    if not found.checked.held and all(one.is_violated is None for one in found.judged):
        return 2
    return 0 if report.is_healthy(found.checked, found.judged) else 1


def page(found: Found, *, json: bool) -> str:
    """The document of a check, as JSON or to be read."""
    document = report.document_of(found.checked, found.judged, found.unjudged, found.file)
    return json_text(document) if json else report.render(document)


def alerts(found: Found, form: str) -> str:
    """The violations of a check as alerts."""
    made = [alert.violated(one) for one in found.checked.violations if one.is_now]
    made += [alert.broken(one) for one in found.judged if one.is_violated]
    return alert.prometheus(made) if form == "prometheus" else alert.alertmanager(made, found.checked.now)


def init(source: Source, hold_s: float, output: Path | None) -> None:
    """Propose thresholds, and write them to a file or to standard output.

    Raises:
        Refusal: nothing was measured, or the file is there already or cannot be written.
    """
    if output and output.exists():
        raise Refusal(f"{output} is there already", "thresholds that somebody keeps are not overwritten: name another")
    histories = _good_time(source)
    if not histories:
        raise Refusal("no figure was measured in that time", "docs/how-to/set-thresholds.md says what is needed")
    proposals = list(propose(histories, hold_s))
    text = thresholds_toml.render(proposals, *_span(histories))
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{output}: {error.strerror}", "name a file that you may write") from error
    made = sum(one.threshold is not None for one in proposals)
    note(f"{made} thresholds of {len(proposals)} series in {output}")


def _good_time(source: Source) -> list[Series]:
    """The histories of a time in hours; of a lake from what it keeps for years, when the rows are long gone."""
    if source.paths:
        figures = own_figures()
        return list(series_at_pace(_chart(source, {used.table for used in figures}), figures, HOUR_S))
    lake = Lake(source.lake or default_lake())
    histories = [at_its_pace(series) for series in history(lake, own_figures(), *_between(source))]
    _tell(lake.problems)
    return histories


def _span(histories: list[Series]) -> tuple[datetime, datetime]:
    return min(series.at(-1) for series in histories), max(series.end for series in histories)


def _chart(source: Source, tables: set[str]) -> Chart:
    """What was measured between two moments, of some tables."""
    if source.paths:
        return _within(_read.chart_of(source.paths, source.told), source)
    since, until = _between(source)
    lake = Lake(source.lake or default_lake())
    chart = lake.chart(since, until, dict.fromkeys(sorted(tables), "true"))
    _tell(lake.problems)
    return chart


def _tell(remarks: Iterable[str]) -> None:
    for remark in remarks:
        note(remark)


def _between(source: Source) -> tuple[datetime, datetime]:
    """From when to when a lake is to be read."""
    since, until = parse_moment(source.since or source.usual), parse_moment(source.until or "now")
    if since >= until:
        raise Refusal(f"{source.since} is not before {source.until or 'now'}", "give --from a moment before --to")
    return since, until


def _within(chart: Chart, source: Source) -> Chart:
    """What of files lies between the two moments, where they are said."""
    if chart.since is None or chart.until is None or (source.since is None and source.until is None):
        return chart
    since = parse_moment(source.since) if source.since else chart.since - timedelta(microseconds=1)
    return chart.between(since, parse_moment(source.until) if source.until else chart.until)
