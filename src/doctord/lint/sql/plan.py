"""Hints that the server takes, and that ask for what cannot be good: contradictions, degrees, wrong access paths."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from doctord.analyse.sql.statements import Statement as Measured
from doctord.dataset.scrub import Dialect, scrub
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.sql.hints import KnownHint, dialect_of, known
from doctord.lint.statement import Hint, Statement, hint_setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.regex import regex

DEGREE_PER_CPU: Final = 2
MANY_BLOCKS: Final = 10_000  # what a scan of some 80 MB reads
WASTED: Final = 100  # blocks for each row from which most are read for nothing
_LANGUAGES: Final[dict[str, Dialect]] = {"oracle": "oracle", "pg_hint_plan": "postgresql", "mysql": "mysql"}
PARAMETER: Final = regex(r"\$\d+|:\w+")


@rule("sql")
def hints_contradict(subject: Subject) -> Iterator[Violation]:
    """Two hints of one query block exclude each other: FULL with INDEX or PARALLEL_INDEX on one table, say.

    Why: the server follows one of them or none, and which may change with the version.
    Evidence: both hints.
    Fix: Keep the one that is meant. FULL belongs to PARALLEL, an index to PARALLEL_INDEX.
    Verify: Look at the plan, and at the hint report of dbms_xplan (since 19c).
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Oracle Database SQL Tuning Guide,
        Influencing the Optimizer with Hints.
    """
    dialect = dialect_of(subject.statements)
    for statement in subject.statements:
        for one, other in combinations(statement.hints, 2):
            if (one.block, one.comment) == (other.block, other.comment) and _exclude(dialect, one, other):
                yield subject.violation(
                    f"{one.text} and {other.text} exclude each other",
                    settings=[hint_setting(statement, one), hint_setting(statement, other)],
                    cost="one of them, or both, is not followed: the plan is not what was asked for",
                    severity=Severity.WARNING,
                )


@rule("sql")
def degree_above_cpus(subject: Subject) -> Iterator[Violation]:
    """A hint asks for more parallel processes than twice the CPUs.

    Why: they queue for the CPUs; each takes memory, and the processes are missing elsewhere.
    Evidence: the degree, and the CPUs of the machine (--cpus, or of files that tell).
    Fix: Ask for no more than the CPUs, or the CPUs and one; never above twice that.
    Verify: Elapsed time of the statement at half the degree; the run queue while it runs.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012.
    """
    dialect = dialect_of(subject.statements)
    cpus = subject.machine.cpus
    for statement in subject.statements:
        for hint in statement.hints:
            degree = _degree(dialect, hint)
            if degree is None or degree <= 1:
                continue
            place = [hint_setting(statement, hint)]
            if cpus is None:
                not_measured = [
                    NotMeasured("the CPUs of the server", "no file tells of them", "--cpus N, or its lscpu beside")
                ]
                title = f"{hint.text}: {degree} processes, of how many CPUs is not known"
                yield subject.violation(title, settings=place, cost=CANNOT_JUDGE, not_measured=not_measured)
            elif degree > DEGREE_PER_CPU * cpus:
                cost = phrase(
                    "{} processes and as many to sort for them on {} CPUs: {:.1f} for each", degree, cpus, degree / cpus
                )
                title = f"{hint.text}: {degree} is above twice the {cpus} CPUs"
                yield subject.violation(title, settings=place, cost=cost, severity=Severity.WARNING)


@rule("sql")
def access_path_unlike_rows(subject: Subject) -> Iterator[Violation]:
    """A hint forces a full scan for a few rows, or an index for very many.

    Why: a full scan reads all blocks for any row; an index reads about a block for each row, one after the other.
    Evidence: blocks and rows of each execution, where the statement was measured (an AWR report, a lake).
    Fix: Take the hint out, gather statistics, and compare; FULL where most blocks are needed, the index where few are.
    Verify: Blocks read and elapsed time of an execution before and after.
    Source: Oracle Database SQL Tuning Guide, Optimizer Access Paths; J. Doelle and S. Langer, IBM 2012.
    """
    dialect = dialect_of(subject.statements)
    for statement in subject.statements:
        measured = _measured(subject, statement, dialect)
        for hint in statement.hints if measured else ():
            found = known(dialect, hint)
            if measured and found and found.group == "access":
                yield from _unlike(subject, statement, hint, found, measured)


def _exclude(dialect: str, one: Hint, other: Hint) -> bool:
    """Whether two hints of one query block cannot both be followed."""
    first, second = known(dialect, one), known(dialect, other)
    if first is None or second is None or not _same_target(first, one, other):
        return False
    if first.group and first.group == second.group:
        return first.side != second.side
    names = (one.name.upper(), other.name.upper())
    return any(a in (f"NO_{b}", f"NO{b}") for a, b in (names, names[::-1]))


def _same_target(found: KnownHint, one: Hint, other: Hint) -> bool:
    """Whether two hints are about the same table, or the same tables, or the whole block."""
    if found.takes in ("none", "value", "block") or found.group == "order":
        return found.takes != "block" or one.arguments == other.arguments
    about, others = ([argument.lower() for argument in hint.arguments] for hint in (one, other))
    if found.takes == "tables":
        return sorted(about) == sorted(others)
    return about[:1] == others[:1]


def _degree(dialect: str, hint: Hint) -> int | None:
    """The degree that a hint asks for; null where it asks for none, or leaves it to the server."""
    found = known(dialect, hint)
    if found is None or not (found.takes == "degree" or hint.name.upper() == "PARALLEL_INDEX"):
        return None
    numbers = [int(one) for one in hint.arguments if one.isdigit()]
    return numbers[0] if numbers else None


def _measured(subject: Subject, statement: Statement, dialect: str) -> Measured | None:
    """The measured statement of the same text, whatever its constants and capitals; null where none was."""
    language = _LANGUAGES[dialect]
    text = _plain(statement.text, language)
    return next((one for one in subject.case.statements if one.text and _plain(one.text, language) == text), None)


def _plain(text: str, language: Dialect) -> str:
    return PARAMETER.sub("?", scrub(text, language)).lower()


def _unlike(
    subject: Subject, statement: Statement, hint: Hint, found: KnownHint, measured: Measured
) -> Iterator[Violation]:
    blocks, rows = measured.blocks_per_call, measured.rows_per_call
    if blocks is None or rows is None:
        return
    wasted = found.side in ("full", "sequential") and blocks > MANY_BLOCKS and blocks > WASTED * max(rows, 1.0)
    slow = found.side == "index" and blocks > MANY_BLOCKS and rows > 0 and blocks >= rows
    if not wasted and not slow:
        return
    figure = phrase("{:,.0f} blocks and {:,.0f} rows an execution", blocks, rows)
    why = "an index may read a few of them" if wasted else "about a block for each row, one after the other"
    yield subject.violation(
        phrase("{}: {}", hint.text, figure),
        settings=[hint_setting(statement, hint)],
        cost=phrase("{}, {:.0%} of the database time", figure, measured.share),
        impact=measured.share,
        evidence=[Evidence("statement", f"statement_id = '{measured.statement_id}'", figure, "", why)],
    )
