"""Statements of MySQL and MariaDB that fail: what part of all, by the number of the error and by the statement.

How large a part has to fail, and of which kind of error, is as for PostgreSQL's transactions (docs/decisions/0029).
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.mysql_names import FAILED_BY_DIGEST, FAILED_STATEMENTS, RAISED_BY_USER, STATUS
from doctord.diagnose.case import Case
from doctord.diagnose.causes.access.mysql_logins import REFUSALS
from doctord.diagnose.common.failures import LOST_SHARE, MOST, NEVER_SUCCEEDS_PER_S, OFTEN, OFTEN_PER_S
from doctord.diagnose.common.mysql_errors import Raised, over_all, raised
from doctord.diagnose.finding import CRITICAL_SHARE, Claim, Evidence, Severity, measured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

ASKED: Final = f"{STATUS}questions"
STATEMENTS: Final = "statements"
MOST_TOLD: Final = 3
NO_RIGHT: Final = "no right"
ROLES: Final = "activate_all_roles_on_login"


class Kind(NamedTuple):
    """Errors that one thing is to be done about, by their numbers."""

    name: str
    numbers: frozenset[int]
    remedy: str
    least_share: float = LOST_SHARE
    may_be_warnings: bool = False

    @property
    def may_be_meant(self) -> bool:
        """Whether an application may use such errors to find something out."""
        return self.least_share == MOST


# What an application may use to find out whether a key is there, or how its constraints and functions say no.
EXPECTED: Final = frozenset(
    {1022, 1048, 1050, 1051, 1062, 1091, 1169, 1216, 1217, 1451, 1452, 1586, 1644, 3572, 3819, 4025}
)
# MySQL Error Message Reference, "Server Error Message Reference"; MariaDB documentation, "MariaDB Error Codes".
KINDS: Final = (
    Kind(
        "timeout",
        frozenset({1205, 1317, 1969, 3024}),
        "Which limit it is: innodb_lock_wait_timeout (1205: who holds the row), max_execution_time or "
        "max_statement_time (3024, 1969), a client that gives up (1317). Make the statement quicker, or wait less for "
        "locks, before the limit is raised.",
    ),
    Kind("deadlock", frozenset({1213, 1614}), "", float("inf")),  # told by `deadlocks_reported`
    Kind(
        "no room",
        frozenset({3, 1021, 1026, 1114}),
        "Make room: the file system of the data or of tmpdir, the tablespace's limit, max_heap_table_size, "
        "innodb_temp_data_file_path.",
    ),
    Kind(
        "read-only",
        frozenset({1290, 1792, 1836}),
        "The server or the transaction takes no writes: read_only and super_read_only after a failover, a client that "
        "still writes to the former source, or a read-only transaction.",
    ),
    Kind(
        NO_RIGHT,
        frozenset({1044, 1142, 1143, 1227, 1370}),
        "Give the account the right, or use the account that has it. Where it has it by a role, the role has to be "
        "active: SET DEFAULT ROLE ... TO the account, or activate_all_roles_on_login = ON (MySQL).",
    ),
    Kind(
        "schema",
        frozenset({1046, 1049, 1054, 1064, 1109, 1146, 1149, 1305}),
        "A statement that can never succeed: a release that does not fit the schema, a table or column that was "
        "renamed or dropped. Take one of both back.",
    ),
    Kind(
        "value",
        frozenset({1264, 1265, 1292, 1364, 1366, 1406}),
        "A value that does not fit its column: the application's input, or a sql_mode that has become strict.",
        may_be_warnings=True,
    ),
    Kind(
        "expected",
        EXPECTED,
        "An application that tries keys should ask for them in another way: INSERT ... ON DUPLICATE KEY UPDATE, or "
        "INSERT IGNORE. A constraint that is violated, or a SIGNAL of its own functions, is the application's to mend.",
        MOST,
    ),
)
OTHER: Final = Kind(
    "other", frozenset(), "Look the number up: the application's log has the whole message.", may_be_warnings=True
)


class Failed(NamedTuple):
    """Statements that failed with errors of one kind: which these are, most often first, and how many a second."""

    kind: Kind
    errors: list[Raised]
    per_s: float


def failing(case: Case, *, of_time: bool) -> Iterator[Claim]:
    """A claim for each kind of error with which a notable part of a server's statements fails, or one all the time.

    Args:
        case: The case.
        of_time: those that ran into a limit of time; else all others.
    """
    for total in case.figures(FAILED_STATEMENTS):
        asked = case.total(ASKED, total.db) or 0.0
        for one in _by_kind(case, total.db, total.mean):
            if one.per_s * total.seconds >= OFTEN and (one.kind.name == "timeout") is of_time:
                yield from _claim(case, total.db, one, asked)


def _claim(case: Case, db: str | None, one: Failed, asked_per_s: float) -> Iterator[Claim]:
    share = min(one.per_s / asked_per_s, 1.0) if asked_per_s else 0.0
    is_meant = one.kind.may_be_meant or (not one.errors and not _is_query(case, db))
    severity = _severity(share, one.per_s, MOST if is_meant else one.kind.least_share, is_meant=is_meant)
    if severity is None:
        return
    yield Claim(
        _title(case, db, share, one),
        impact=measured(share),
        confidence=0.6 if is_meant else 0.9,
        severity=severity,
        for_=[
            Evidence("statistic", f"name = '{FAILED_STATEMENTS}' and db = '{db}'",
                     phrase("{:.3g per s} fail so", one.per_s), "", phrase("of {:.3g statements per s}", asked_per_s)),
            *(Evidence("statistic", each.filter, phrase("{:.3g per s}", each.per_s), "", each.words)
              for each in one.errors[:MOST_TOLD]),
            *_by_user(case, db, one),
            *_by_statement(case, db),
            *(_roles(case, db) if one.kind.name == NO_RIGHT else []),
        ],
        remedy=(one.kind.remedy,),
        verify=("events_statements_summary_by_digest: SUM_ERRORS of the statement stands still.",),
        time_of=STATEMENTS,
        database=db,
    )  # fmt: skip


def _by_kind(case: Case, db: str | None, failed_per_s: float) -> list[Failed]:
    """What failed by kind; all of one kind, where the server tells no numbers.

    What may be a warning accounts for no more than errors that are none leave of the failed statements.
    """
    # A login that is refused is no statement that fails (`logins_refused`).
    errors = [one for one in raised(case, db) if one.number not in REFUSALS]
    if not errors:
        return [Failed(OTHER, [], failed_per_s)]
    found, left_per_s = list[Failed](), failed_per_s
    for kind in sorted((*KINDS, OTHER), key=lambda kind: kind.may_be_warnings):
        own = [one for one in errors if _kind_of(one) is kind]
        per_s = min(sum(one.per_s for one in own), left_per_s)
        left_per_s -= per_s
        found += [Failed(kind, own, per_s)] if own else []
    return found


def _kind_of(one: Raised) -> Kind:
    return next((kind for kind in KINDS if one.number in kind.numbers), OTHER)


def _severity(share: float, per_s: float, least_share: float, *, is_meant: bool) -> Severity | None:
    """By the part of all; of what nobody expects by its rate too; null where it comes seldom."""
    if share >= max(least_share, CRITICAL_SHARE):
        return "warning" if is_meant else "critical"
    is_steady = not is_meant and least_share <= 1 and per_s >= NEVER_SUCCEEDS_PER_S
    if share >= least_share or is_steady:
        return "warning"
    return "note" if per_s >= OFTEN_PER_S and least_share <= 1 else None


def _title(case: Case, db: str | None, share: float, one: Failed) -> Words:
    text = next((text for _, text in _failed_texts(case, db)), None)
    told: Words = shortened(text, 80) if text else "by what error, is not told"
    said = one.errors[0].words if one.errors else told
    if share < LOST_SHARE:
        return phrase("Statements of {} fail again and again, {:.3g per s}: {}", db, one.per_s, said)
    most_with = " fail, most with {}" if one.errors else " fail: {}"
    return phrase("{:share of statements} of {}" + most_with, share, db, said)


def _by_user(case: Case, db: str | None, one: Failed) -> list[Evidence]:
    """The accounts that met these errors, most often first, where the server tells them."""
    numbers = {str(each.number) for each in one.errors}
    met = dict[str, float]()
    for told in case.figures(RAISED_BY_USER):
        number, _, user = (told.entity or "").partition(" ")
        if told.db == db and number in numbers:
            met[user] = met.get(user, 0.0) + over_all(case, told)
    return [
        Evidence("statistic", f"name = '{RAISED_BY_USER}' and entity like '% {user}' and db = '{db}'",
                 phrase("{:.3g per s} of user {}", per_s, user), "", "who met them")
        for user, per_s in sorted(met.items(), key=lambda it: -it[1])[:MOST_TOLD]
    ]  # fmt: skip


def _roles(case: Case, db: str | None) -> list[Evidence]:
    """That roles count only where they are active, where somebody set it so while the server ran."""
    rows = case.dataset.frame("setting").filter((pl.col("name") == ROLES) & (pl.col("db") == db))
    if rows.is_empty() or rows["value"].last() != "OFF" or rows["source"].last() != "dynamic":
        return []
    return [
        Evidence("setting", f"name = '{ROLES}' and db = '{db}'", f"{ROLES} = OFF, set while the server runs", "",
                 "who has a right by a role that is no default role, has it no more from his next login on")
    ]  # fmt: skip


def _by_statement(case: Case, db: str | None) -> list[Evidence]:
    return [
        Evidence("statistic", f"name = '{FAILED_BY_DIGEST}' and db = '{db}'", phrase("{:.3g per s} of them", per_s), "",
                 shortened(text, 120))
        for per_s, text in _failed_texts(case, db)[:MOST_TOLD]
    ]  # fmt: skip


def _failed_texts(case: Case, db: str | None) -> list[tuple[float, str]]:
    """The statements that failed, most often first, where their text is known."""
    own = sorted(
        ((over_all(case, one), one.entity) for one in case.figures(FAILED_BY_DIGEST) if one.db == db),
        key=lambda one: -one[0],
    )
    return [(per_s, text) for per_s, digest in own if (text := case.statement_text(digest))]


def _is_query(case: Case, db: str | None) -> bool:
    """Whether what fails most reads: it violates no constraint, so that nobody fails by it on purpose."""
    return next((text.lstrip("( ").upper().startswith("SELECT") for _, text in _failed_texts(case, db)), False)
