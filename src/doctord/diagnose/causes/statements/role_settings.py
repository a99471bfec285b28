"""Settings of a role or a database by which its statements are slow, while everybody else's are quick."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.role_settings import RoleSetting, Runner, role_settings, runners
from doctord.analyse.sql.statements import Statement
from doctord.dataset.role_settings import COMPONENT
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.worse_settings import MEMORY, Worse, governs, shown, spills, worse
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import OWN_WORK, is_slowed, severity, works
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

HALF: Final = 0.5
# Less than a millisecond a call is seldom long for what a statement does.
SHORT_MS: Final = 1.0
# Others that run the same statement: so many samples tell how long it takes them.
FEWEST_SAMPLES: Final = 5
# Twice as long as for others is no chance.
TWICE: Final = 2.0
MOST_TOLD: Final = 3
# A tenth of one: a job that may take its time. Who set a role less memory than others have may have meant it.
FEW_SESSIONS: Final = 0.1
OF_ALL_TIME: Final = ("cpu_few_statements", "cpu_saturated", "few_rows_of_many_blocks", "statement_dominates")


class Suffers(NamedTuple):
    """A statement that is run mostly under settings that are worse for it, and who runs it so, and otherwise."""

    statement: Statement
    settings: tuple[Worse, ...]
    who: Runner
    others: tuple[Runner, ...]

    @property
    def slowed(self) -> bool:
        """Whether its callers lose time by it: a little less memory does nothing to what needs no files."""
        is_wrong = spills(self.statement) or any(one.is_slip for one in self.settings)
        return is_wrong and is_slowed(self.statement, 1.0)

    @property
    def times(self) -> float | None:
        """How many times as long it runs as for others without these settings; null where samples do not tell."""
        told = [one for one in self.others if one.samples >= FEWEST_SAMPLES and one.running_s]
        if self.who.running_s is None or self.who.samples < FEWEST_SAMPLES or not told:
            return None
        return self.who.running_s / (sum(one.running_s or 0.0 for one in told) / len(told))


@cause()
def role_setting_slows(case: Case) -> Iterator[Claim]:
    r"""A statement is slow by a setting that its role or its database has, and nobody else.

    Looks like: a statement of one application that takes many times as long as it could, and is quick for whoever looks
        at it: the plan in another role's session, a superuser's too, is another one, and pg_settings there shows
        nothing.
    Hurts because: ALTER ROLE ... SET and ALTER DATABASE ... SET hold for new sessions of that role or database alone:
        work_mem without its unit is in kB, and an enable_* that was switched off to try something stays off.
    Speaks for it: what is set for the role against what the server has; a statement of that role whose work the setting
        governs: what sorts, hashes or joins, what is planned anew or for all values, what is compiled; how much longer
        it runs than for other roles.
    Speaks against it: other roles, without that setting, run the same statement for as long.
    Remedy: ALTER ROLE ... RESET that setting (ALTER DATABASE ... RESET, ALTER ROLE ... IN DATABASE ... RESET), and let
        the application connect anew: a session keeps what it began with, and so do the connections of a pool. What one
        statement needs, give to that one (SET LOCAL). To see the plan as that role has it, connect as the role: SET
        ROLE does not apply its settings; or SET them by hand, and EXPLAIN (ANALYZE, BUFFERS, SETTINGS). \drds of psql
        lists what is set for whom.
    Verify: pg_db_role_setting has it no more; the statement's time per call falls once sessions are new.
    Source: PostgreSQL documentation, ALTER ROLE, ALTER DATABASE, SET ROLE, pg_db_role_setting, "Query Planning",
        work_mem and EXPLAIN (SETTINGS).
    """
    if not role_settings(case.dataset):
        return
    by_values: dict[tuple[str, ...], list[Suffers]] = {}
    for one in _suffering(case):
        by_values.setdefault(_values(one), []).append(one)
    for suffering in by_values.values():
        yield _claim(case, suffering)
    if not by_values:
        yield from _untold(case)


def _suffering(case: Case) -> Iterator[Suffers]:
    """Statements that hold time or are slowed, and are run mostly with settings that are worse for them."""
    known: dict[tuple[str, str | None, str | None], tuple[Worse, ...]] = {}
    for one in case.statements:
        is_long = one.elapsed_ms is None or one.elapsed_ms >= SHORT_MS
        if not (is_long and case.worth_saying(one.share)) and not is_slowed(one, 1.0):
            continue
        who = [each for each in runners(case.dataset) if (each.db, each.statement_id) == (one.db, one.statement_id)]
        for each in who:
            if (each.db, each.user, each.database) not in known:
                known[each.db, each.user, each.database] = worse(case, each.db, each.user, each.database)
        settings = {
            each: tuple(was for was in known[each.db, each.user, each.database] if governs(case, was, one))
            for each in who
        }
        most = next((each for each in who if settings[each]), None)
        if most is None or not works(case, one):
            continue
        seconds = sum(each.seconds for each in who if settings[each] == settings[most])
        if seconds >= HALF * sum(each.seconds for each in who):
            yield Suffers(one, settings[most], most, tuple(each for each in who if not settings[each]))


def _values(one: Suffers) -> tuple[str, ...]:
    """What is set on which server, for whomever: of thousands of roles with the same one finding is enough."""
    return (one.statement.db or "", *(f"{was.own.scope.name} = {was.own.value}" for was in one.settings))


def _claim(case: Case, suffering: list[Suffers]) -> Claim:
    settings, everybodys = suffering[0].settings, [*dict.fromkeys(was for one in suffering for was in one.settings)]
    whose = [*dict.fromkeys(was.own.scope.whose for was in everybodys)]
    told = [was for was in everybodys if was.own.scope.whose in whose[:MOST_TOLD]]
    share = min(sum(one.statement.share for one in suffering), 1.0)
    for_, against = _beside_others(suffering)
    is_meant = not for_ and all(was.may_be_meant for was in everybodys) and _sessions(suffering) < FEW_SESSIONS
    grade = "note" if against or is_meant else severity(case, share, slowed=any(one.slowed for one in suffering))
    return Claim(
        phrase("{} for {}, which runs {:share of database} with it: {}", listed(*(one.words for one in settings)),
               _first_of(whose), share,
               shortened(suffering[0].statement.text or suffering[0].statement.statement_id)),
        impact=at_most(share),
        confidence=_confidence(settings, suffering, for_, against),
        severity=grade,
        for_=[*(_set(one) for one in told), *(_run(one) for one in suffering[:MOST_TOLD]), *for_],
        against=against,
        not_measured=[_plan(settings, suffering[0].who)],
        first_steps=[*(_reset(one.own) for one in told), *_and_others(len(whose) - MOST_TOLD)],
        database=suffering[0].statement.db,
        explains=() if grade == "note" else _symptoms(case, settings, suffering),
    )  # fmt: skip


def _sessions(suffering: list[Suffers]) -> float:
    """How many sessions are in these statements on average."""
    each = ((one.statement.elapsed_ms or 0.0) * (one.statement.calls_per_s or 0.0) / 1000 for one in suffering)
    return sum(each)


def _first_of(whose: list[str]) -> Words:
    """For whom it is set: the first few, and how many others."""
    rest = len(whose) - MOST_TOLD
    return listed(*whose[:MOST_TOLD], *([phrase("{:count other/others}", rest)] if rest > 0 else []))


def _and_others(rest: int) -> list[Words]:
    return (
        [phrase("So for {:count other/others} that have the same: \\drds of psql lists them.", rest)]
        if rest > 0
        else []
    )


def _confidence(
    settings: Iterable[Worse], suffering: list[Suffers], for_: list[Evidence], against: list[Evidence]
) -> float:
    """Surer where others are quicker, or temporary files show the want of memory; else the plan alone would tell."""
    if against:
        return 0.3
    if for_:
        return 0.9
    return 0.8 if any(one.kind is MEMORY for one in settings) and spills(suffering[0].statement) else 0.7


def _beside_others(suffering: list[Suffers]) -> tuple[list[Evidence], list[Evidence]]:
    """How long the same statement runs for others: for, and against."""
    for one in suffering:
        if one.times is not None:
            found = Evidence(
                "session", f"statement_id = '{one.statement.statement_id}'",
                phrase("{:.1f} times as long as for {}", one.times,
                       ", ".join(dict.fromkeys(other.user or "others" for other in one.others))),
                phrase("{:.0f}", TWICE),
                "others without the setting are quick" if one.times >= TWICE else "it is as slow without the setting",
                "at_least",
            )  # fmt: skip
            return ([found], []) if one.times >= TWICE else ([], [found])
    return [], []


def _set(one: Worse) -> Evidence:
    return Evidence(
        "setting", _where(one.own), phrase("{} for {}", one.words, one.own.scope.whose),
        shown(one.server, one.own.unit), one.kind.why,
    )  # fmt: skip


def _where(one: RoleSetting) -> str:
    name = one.scope.text.replace("'", "''")
    return f"component = '{COMPONENT}' and name = '{name}'"


def _run(one: Suffers) -> Evidence:
    """The statement as the server counts it: calls, time, rows and blocks of each."""
    its = one.statement
    blocks = "" if its.blocks_per_call is None else phrase("{:,.0f} blocks a call", its.blocks_per_call)
    files = (
        phrase("{:bytes} of temporary files a call", (its.temp_bytes_per_s or 0.0) / its.calls_per_s)
        if spills(its) and its.calls_per_s
        else ""
    )
    who = phrase("run by {} in {}", one.who.user or "an unknown role", one.who.database or "an unknown database")
    figure = listed(*(part for part in (per_call(its), blocks, files) if part))
    return Evidence("statement", f"statement_id = '{its.statement_id}'", figure, "",
                    listed(who, shortened(its.text or ""), by=": "))  # fmt: skip


def _plan(settings: Iterable[Worse], who: Runner) -> NotMeasured:
    by_hand = "; ".join(f"SET {one.own.scope.name} = '{one.own.value}{_unit(one.own.unit)}'" for one in settings)
    return NotMeasured(
        "the statement's plan with these settings, and without",
        "plans are not recorded",
        phrase("connect as {} (SET ROLE does not apply its settings), or {}; EXPLAIN (ANALYZE, BUFFERS, SETTINGS), "
               "then RESET and again", who.user or "the role", by_hand),
    )  # fmt: skip


def _unit(unit: str | None) -> str:
    """A unit that may stand behind a value; pages may not."""
    return unit if unit in ("B", "kB", "MB", "us", "ms", "s", "min") else ""


def _reset(one: RoleSetting) -> Words:
    return phrase("First: {} RESET {}; its sessions have to connect anew.", one.scope.alter, one.scope.name)


def _symptoms(case: Case, settings: Iterable[Worse], suffering: list[Suffers]) -> tuple[str, ...]:
    """What else may be said of the same statements: of the one with most time there is no doubt that it is about it."""
    first = next(iter(case.statements), None)
    if first is None or first not in [one.statement for one in suffering]:
        return ()
    return tuple(dict.fromkeys((*OF_ALL_TIME, *(name for one in settings for name in one.kind.symptoms))))


def _untold(case: Case) -> Iterator[Claim]:
    """Where a server tells no statements of its sessions: that a role has such settings, and how much it works."""
    whole_s = case.database_time_s()
    told = {one.db for one in runners(case.dataset) if one.statement_id is not None}
    for who in [one for one in runners(case.dataset) if one.db not in told]:
        settings = worse(case, who.db, who.user, who.database)
        share = min(_working_s(case, who) / whole_s, 1.0) if whole_s else 0.0
        if settings and case.worth_saying(share):
            yield Claim(
                phrase("{} for {}, whose sessions work for {:share of database}",
                       listed(*(one.words for one in settings)),
                       listed(*dict.fromkeys(one.own.scope.whose for one in settings)), share),
                impact=at_most(share),
                confidence=0.4,
                severity="note",
                for_=[*(_set(one) for one in settings)],
                not_measured=[
                    NotMeasured("which statements they run", "the sessions tell no identifier of a statement",
                                "compute_query_id = on (from version 14 on), and pg_stat_statements"),
                    _plan(settings, who),
                ],
                first_steps=[*(_reset(one.own) for one in settings)],
                database=who.db,
                explains_waits=False,
            )  # fmt: skip
            return


def _working_s(case: Case, who: Runner) -> float:
    """Seconds for which the sessions of a role in a database work on statements that nobody names."""
    rows = case.dataset.frame("session").filter(
        (pl.col("db") == who.db)
        & pl.col("user").eq_missing(pl.lit(who.user))
        & pl.col("database").eq_missing(pl.lit(who.database))
        & pl.col("statement_id").is_null()
        & (pl.col("state") == "active")
        & pl.col("wait_class").is_in(OWN_WORK)
    )
    return float(rows["interval_s"].sum())
