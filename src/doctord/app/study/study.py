"""Was it better: two periods, or the runs of a table, held against each other, with targets and what was accepted."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from doctord.analyse.study.compare import Row
from doctord.analyse.study.design import compare
from doctord.analyse.study.runs import pairs
from doctord.analyse.study.targets import Judged, Target, judged_targets, targets_in
from doctord.analyse.study.verdict import Comparison, Period, Verdict, of_runs
from doctord.app.source import Recorded
from doctord.app.study.files import MOST_NAMED, Table, Told, check_hosts, of_one, of_two
from doctord.app.study.recorded import check_apart, span_of, twin_spans
from doctord.app.watcher import SILENT, Watcher
from doctord.errors import UserError
from doctord.read.source import ReadOptions

HINT: Final = "doctord study BEFORE AFTER, doctord study FOLDER, or doctord study --before FROM..TO --after FROM..TO"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked beside the periods.

    Attributes:
        targets: What was to be reached, set before.
        accepted: Names of figures that may get worse.
        unit: Unit of load; null: the best that both tell; `none`: see `verdict.compare`.
        text: The question in words, and what was changed, as a study file has them.
        twin: A host of the same lake, or another lake, of a server that was not changed; empty: there is none.
    """

    targets: Sequence[Target] = ()
    accepted: Sequence[str] = ()
    unit: str | None = None
    text: str = ""
    change: str = ""
    twin: str = ""


@dataclass(frozen=True, eq=False)
class Part:
    """Two periods, or a table of runs by the name of its file: each comparison, and what became of its targets."""

    name: str
    comparisons: Sequence[Comparison]
    targets: Sequence[Sequence[Judged]]

    @property
    def last(self) -> Comparison:
        """Where it ended: of two periods their comparison, of runs the last one against the first."""
        return next(one for one in reversed(self.comparisons) if one.before == self.comparisons[0].before)

    @property
    def missed(self) -> list[Judged]:
        """Targets that were not reached where it ended."""
        last = self.targets[self.comparisons.index(self.last)]
        return [one for one in last if one.is_met is False]


@dataclass(frozen=True, eq=False)
class Study:
    """What came of it; `periods` are the two that were compared, null where there are only tables of runs."""

    parts: Sequence[Part]
    question: Question = field(default_factory=Question)
    periods: tuple[Period, Period] | None = None

    @property
    def verdict(self) -> Verdict:
        """That of all parts together; where some are better and some worse, none."""
        found = {part.last.verdict for part in self.parts}
        if {"better", "worse"} <= found:
            return "not comparable"
        order: tuple[Verdict, ...] = ("worse", "better", "no difference")
        return next((verdict for verdict in order if verdict in found), "not comparable")

    @property
    def regressions(self) -> list[Row]:
        """What got worse where each part ended, and was not accepted."""
        accepted = {name.lower() for name in self.question.accepted}
        rows = [row for part in self.parts for row in part.last.regressions]
        return [row for row in rows if row.key.name.lower() not in accepted]

    @property
    def missed(self) -> list[Judged]:
        """Targets that were not reached."""
        return [one for part in self.parts for one in part.missed]

    @property
    def healthy(self) -> bool | None:
        """False where it is worse, a target is missed or a regression not accepted; null where nothing is compared."""
        if self.verdict == "worse" or self.missed or self.regressions:
            return False
        return None if self.verdict == "not comparable" else True


def of_paths(
    paths: Sequence[Path], options: ReadOptions, question: Question, host: str | None = None, watcher: Watcher = SILENT
) -> Study:
    """A study of files or folders: two, before and after, or one that holds both.

    Raises:
        UserError: there are none or more than two, or they cannot be compared.
    """
    if len(paths) not in (1, 2):
        raise UserError(f"{len(paths)} files or folders are no before and after", HINT)
    told = of_two(paths, options, host, watcher) if len(paths) == 2 else of_one(paths[0], options, watcher)
    return of_told(told, question)


def of_lake(recorded: Recorded, before: str, after: str, question: Question, watcher: Watcher = SILENT) -> Study:
    """A study of two times of a lake, each written as FROM..TO.

    Raises:
        UserError: they are no such times, overlap, or nothing was recorded in one of them.
    """
    old, new = (span_of(recorded, text, watcher) for text in (before, after))
    check_apart(old, new)
    check_hosts(old.dataset, new.dataset)
    beside = None
    if question.twin:
        spans = twin_spans(recorded, question.twin, (old, new), watcher)
        beside = Period(question.twin, spans[0].dataset), Period(question.twin, spans[1].dataset)
    return of_told(Told((Period("before", old.dataset), Period("after", new.dataset)), twin=beside), question)


def of_told(told: Told, question: Question) -> Study:
    """A study of what files tell."""
    parts = [(table.name, _of_runs(table)) for table in told.tables]
    wanted = question.targets
    if told.periods:
        before, after = told.periods
        parts.insert(0, ("", [compare(before, after, question.unit, question.change, told.twin)]))
        wanted = [*wanted, *targets_in(before.dataset), *targets_in(after.dataset)]
    return replace(judged_parts(parts, question, list(dict.fromkeys(wanted))), periods=told.periods)


def judged_parts(
    parts: Sequence[tuple[str, Sequence[Comparison]]], question: Question, wanted: Sequence[Target] | None = None
) -> Study:
    """A study of comparisons by the name of their table (empty: two periods), with what became of the targets.

    Args:
        parts: The comparisons.
        question: What is asked.
        wanted: The targets of the two periods, where their tables have some too; null: those of the question.

    Raises:
        UserError: a target of the question is of no figure that is there.
    """
    made = list[Part]()
    for name, found in parts:
        targets = question.targets if name or wanted is None else wanted
        judged = [judged_targets(targets, one) for one in found]
        made.append(Part(name, found, [_known(each) if name else each for each in judged]))
    _check_targets(made, question)
    return Study(made, question)


def _of_runs(table: Table) -> list[Comparison]:
    return [of_runs(one.name, one.measures, other.name, other.measures) for one, other in pairs(table.runs)]


def _known(targets: Sequence[Judged]) -> list[Judged]:
    return [one for one in targets if one.row]


def _check_targets(parts: Sequence[Part], question: Question) -> None:
    """Refuse a target of a figure that is nowhere: nobody should take its silence for a success.

    Raises:
        UserError: there is such a target.
    """
    known = {one.target for part in parts for targets in part.targets for one in targets if one.row}
    if unknown := [target for target in question.targets if target not in known]:
        names = dict.fromkeys(row.key.name for part in parts for row in part.last.all_rows)
        some = difflib.get_close_matches(unknown[0].name, names, MOST_NAMED, 0) or list(names)[:MOST_NAMED]
        raise UserError(f"there is no figure for the target {unknown[0].text!r}", f"figures are {', '.join(some)}, ...")
