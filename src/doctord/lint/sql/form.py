"""Hints that no server takes for one, and says nothing: misspelt, misplaced, or about a table that is not there."""

from collections.abc import Iterator
from typing import Final

from doctord.lint.rule import rule
from doctord.lint.sql.hints import dialect_of, known, nearest
from doctord.lint.sql.tables import names_for
from doctord.lint.statement import VERBS, Comment, Hint, Statement, hint_setting
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

IGNORED: Final = "the server ignores it and says nothing: the plan is not what was asked for"
OPERANDS: Final = {"table": 1, "degree": 1, "tables": None}


@rule("sql")
def hint_unknown(subject: Subject) -> Iterator[Violation]:
    """A hint has a name that the server does not know.

    Why: it is a comment to the server, which says nothing. Oracle may leave out the hints behind it as well.
    Evidence: the lists of hints of Oracle, pg_hint_plan and MySQL; the name most like it.
    Fix: Correct the name, or take the hint out.
    Verify: Look at the plan; since 19c dbms_xplan's hint report names what was not used, pg_hint_plan.debug_print too.
    Source: Oracle's V$SQL_HINT; pg_hint_plan documentation, Hint list; MySQL Reference Manual, Optimizer Hints.
    """
    dialect = dialect_of(subject.statements)
    for statement, hint in _hints(subject):
        if known(dialect, hint) is None:
            meant = nearest(dialect, hint.name)
            words = f"; {meant} is most like it" if meant else ""
            yield _violation(subject, statement, hint, f"{hint.name} is no hint of {dialect}{words}")


@rule("sql")
def hint_deprecated(subject: Subject) -> Iterator[Violation]:
    """A hint is out of date.

    Why: newer versions ignore it, or it turns the optimizer off.
    Evidence: the version since which it is deprecated or desupported.
    Fix: Take it out, and look at the plan without it.
    Verify: Compare elapsed time and buffer gets before and after, on the same data.
    Source: Oracle Database Upgrade Guide, deprecated and desupported features.
    """
    dialect = dialect_of(subject.statements)
    for statement, hint in _hints(subject):
        found = known(dialect, hint)
        if found and found.note:
            severity = Severity.WARNING if found.note.startswith("desupported") else Severity.NOTE
            place = [hint_setting(statement, hint)]
            yield subject.violation(f"{hint.name}: {found.note}", settings=place, cost=IGNORED, severity=severity)


@rule("sql")
def hint_malformed(subject: Subject) -> Iterator[Violation]:
    """A comment was meant as hints, and is none; or a hint lacks its arguments or its end.

    Why: a blank before the plus, or a parenthesis that is not closed, makes a comment of it.
    Evidence: the text.
    Fix: Write /*+ NAME(table) */ directly behind the verb.
    Verify: Look at the plan.
    Source: Oracle Database SQL Language Reference, Comments, Hints; pg_hint_plan documentation.
    """
    dialect = dialect_of(subject.statements)
    for statement in subject.statements:
        for comment in statement.comments:
            if words := _malformed(comment):
                yield _violation_at(subject, statement, comment.line, comment.column, words)
    for statement, hint in _hints(subject):
        found = known(dialect, hint)
        if not hint.is_closed:
            yield _violation(subject, statement, hint, f"{hint.text}: its parenthesis is not closed")
        elif found and found.takes in ("table", "tables") and not hint.arguments and hint.block is None:
            yield _violation(subject, statement, hint, f"{hint.name} names no table")


@rule("sql")
def hint_misplaced(subject: Subject) -> Iterator[Violation]:
    """Hints stand where the server does not look for them.

    Why: Oracle and MySQL read the comment directly behind SELECT, INSERT, UPDATE, DELETE, MERGE or REPLACE,
        pg_hint_plan the first comment of a statement: any other is a comment.
    Evidence: the word before the comment.
    Fix: Move it.
    Verify: Look at the plan.
    Source: Oracle Database SQL Language Reference, Hints; MySQL Reference Manual, Optimizer Hints; pg_hint_plan
        documentation, Functional limitations.
    """
    dialect = dialect_of(subject.statements)
    for statement in subject.statements:
        for number, comment in enumerate(statement.comments):
            if comment.nearly:
                continue
            if dialect == "pg_hint_plan":
                wrong = number > 0 or not comment.is_first
                words = "pg_hint_plan reads the first comment of a statement only"
            else:
                wrong = comment.verb not in VERBS
                words = f"hints stand behind {comment.verb or 'no verb'}, not behind SELECT, INSERT, UPDATE, ..."
            if wrong:
                yield _violation_at(subject, statement, comment.line, comment.column, words)


@rule("sql")
def hint_on_absent_table(subject: Subject) -> Iterator[Violation]:
    """A hint names a table that its query block has not, or one by its name that has an alias.

    Why: a table that has an alias is known by that alone; a hint about any other name is ignored.
    Evidence: the names and aliases of the query block, as the statement is parsed.
    Fix: Use the alias; name the query block (@qb) for a table of another one.
    Verify: Look at the plan, and at the hint report of dbms_xplan.
    Source: Oracle Database SQL Language Reference, Hints; MySQL Reference Manual, Optimizer Hints.
    """
    dialect = dialect_of(subject.statements)
    for statement, hint in _hints(subject):
        names = names_for(statement, hint, dialect) if hint.is_closed else None
        for table in _tables(dialect, hint) if names else ():
            if names and _bare(table) not in names:
                words = f"{hint.text}: there is no {table} here, but {', '.join(sorted(names))}"
                yield _violation(subject, statement, hint, words)


def _hints(subject: Subject) -> Iterator[tuple[Statement, Hint]]:
    return ((statement, hint) for statement in subject.statements for hint in statement.hints)


def _malformed(comment: Comment) -> str | None:
    """What is wrong with a comment as a whole; null where it is one of hints."""
    if comment.nearly:
        return "a blank stands before the plus: this is a comment, no hint"
    if not comment.is_closed:
        return "the comment is not closed"
    return f"what is {' '.join(comment.stray)} among the hints?" if comment.stray else None


def _tables(dialect: str, hint: Hint) -> list[str]:
    """The arguments of a hint that are tables."""
    found = known(dialect, hint)
    if found is None or found.takes not in OPERANDS:
        return []
    flat = " ".join(hint.arguments).replace("(", " ").replace(")", " ").split()
    if found.takes == "degree" and (not flat or flat[0].lower() in ("auto", "manual", "default") or flat[0].isdigit()):
        return []
    return [one for one in flat[: OPERANDS[found.takes]] if "@" not in one.removeprefix("@")]


def _bare(table: str) -> str:
    return table.strip('"`').rpartition(".")[2].lower()


def _violation(subject: Subject, statement: Statement, hint: Hint, title: str) -> Violation:
    place = hint_setting(statement, hint)
    return subject.violation(title, settings=[place], cost=IGNORED, severity=Severity.WARNING)


def _violation_at(subject: Subject, statement: Statement, line: int, column: int, title: str) -> Violation:
    place = hint_setting(statement, None, line, column)
    return subject.violation(title, settings=[place], cost=IGNORED, severity=Severity.WARNING)
