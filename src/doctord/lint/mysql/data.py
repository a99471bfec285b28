"""Settings of MariaDB and MySQL that change or refuse what clients store."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

_STRICT: Final = ("STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL")
_THREE_BYTES: Final = frozenset({"utf8", "utf8mb3"})
_CHECKS: Final = ("foreign_key_checks", "unique_checks", "check_constraint_checks")


@rule("mysql")
def sql_mode_not_strict(subject: Subject) -> Iterator[Violation]:
    """What does not fit into a column is cut or changed, and stored: sql_mode is not strict.

    Why: without STRICT_TRANS_TABLES a text that is too long is cut, a number out of range becomes the nearest, a wrong
        date 0000-00-00, with a warning that applications seldom read.
    Evidence: sql_mode.
    Fix: Add STRICT_TRANS_TABLES to sql_mode, first in a test: applications meet errors where data was cut.
    Verify: SELECT @@GLOBAL.sql_mode; SHOW WARNINGS after an INSERT that does not fit.
    Source: MySQL Reference Manual, 7.1.11 Server SQL Modes; MariaDB documentation, SQL_MODE.
    """
    mode = subject.text("sql_mode")
    if mode is None or any(word in mode.upper() for word in _STRICT):
        return
    better = ",".join(filter(None, [mode, "STRICT_TRANS_TABLES"]))
    yield subject.violation(
        f"sql_mode = '{mode}': values that do not fit are cut or changed without an error",
        "sql_mode",
        cost="data: what is cut at an INSERT is gone",
        severity=Severity.WARNING,
        changes=[subject.change("sql_mode", better)],
    )


@rule("mysql")
def checks_off(subject: Subject) -> Iterator[Violation]:
    """Constraints are not checked, for every session.

    Why: foreign_key_checks, unique_checks and check_constraint_checks are switched off for a bulk load, by the session
        that loads. Off globally they let rows in that break the constraints, and nothing finds these later.
    Evidence: the global values.
    Fix: Set them ON globally; let the loading session set its own.
    Verify: SELECT @@GLOBAL.foreign_key_checks, @@GLOBAL.unique_checks.
    Source: MySQL Reference Manual, 7.1.8 Server System Variables.
    """
    for name in _CHECKS:
        if subject.flag(name) is False:
            yield subject.violation(
                f"{name} = OFF for every session: rows that break constraints are stored",
                name,
                cost="data: rows without parents or twice, which no later check finds",
                severity=Severity.ERROR,
                changes=[subject.change(name, "ON")],
            )


@rule("mysql")
def character_set_of_three_bytes(subject: Subject) -> Iterator[Violation]:
    """New tables cannot hold every character: the character set is utf8mb3.

    Why: utf8mb3 (utf8 in older versions) holds three bytes of four: emoji and rarer scripts are refused, or cut without
        a strict sql_mode; it is deprecated, and what `utf8` means changes with the version.
    Evidence: character_set_server.
    Fix: Set character_set_server = utf8mb4 for new tables; convert old ones one by one with ALTER TABLE.
    Verify: SELECT @@GLOBAL.character_set_server; information_schema.columns lists what is left.
    Source: MySQL Reference Manual, 12.9.2 The utf8mb3 Character Set; MariaDB documentation, Unicode.
    """
    value = (subject.text("character_set_server") or "").lower()
    if value in _THREE_BYTES:
        strict = any(word in (subject.text("sql_mode") or "").upper() for word in _STRICT)
        yield subject.violation(
            f"character_set_server = {value}: characters of four bytes do not fit",
            "character_set_server",
            "sql_mode",
            cost="data: such characters are "
            + ("refused with an error" if strict else "lost where sql_mode is not strict"),
            severity=Severity.NOTE if strict else Severity.WARNING,
            changes=[subject.change("character_set_server", "utf8mb4")],
        )


@rule("mysql")
def table_names_against_file_system(subject: Subject) -> Iterator[Violation]:
    """How names of tables are compared does not fit the file system.

    Why: lower_case_table_names = 0 on a file system that ignores case lets two names reach one file, which corrupts
        indexes; 2 on one that heeds case is not supported, and tables are not found.
    Evidence: lower_case_table_names and lower_case_file_system.
    Fix: Use 1 on file systems that ignore case, 0 or 1 on others; changing it needs a dump and a new data directory.
    Verify: SHOW GLOBAL VARIABLES LIKE 'lower_case%'.
    Source: MySQL Reference Manual, 11.2.3 Identifier Case Sensitivity.
    """
    names, ignores_case = subject.number("lower_case_table_names"), subject.flag("lower_case_file_system")
    if (names, ignores_case) in {(0, True), (2, False)}:
        yield subject.violation(
            phrase(
                "lower_case_table_names = {:.0f} on a file system that {} case",
                names,
                "ignores" if ignores_case else "heeds",
            ),
            "lower_case_table_names",
            "lower_case_file_system",
            cost="data: tables are not found, or two names share one file and its indexes are damaged",
            severity=Severity.ERROR,
        )
