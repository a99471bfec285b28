"""Logins that take long before anybody is in, as the kernel shows them: why, and what speaks for it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.host.logins_under_way import (
    ASKING,
    HELD,
    NO_REQUEST,
    OLDEST,
    SLOW,
    SLOW_IN,
    UNDER_WAY,
    LoginsUnderWay,
    held,
)
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, phrase
from doctord.regex import regex

# A client that connects and says nothing, or a single slow one, is nobody's trouble: two, and a tenth of all; of very
# many logins a hundredth is many users.
LEAST, LEAST_SHARE, MANY, LEAST_OF_MANY = 2, 0.1, 30, 0.01
SLOW_S: Final = 1.0
MOSTLY: Final = 0.5
AUTHENTICATION: Final = "authentication"
NAMES: Final = "name server"
RULES: Final = "hba.asks"
DELAYS: Final = ("pre_auth_delay", "post_auth_delay")
# Settings that have each login wait, by what they do: the value with which they do nothing, and in which phase.
SETTINGS: Final = {
    "log_hostname": ("off", (NO_REQUEST,), "the client's name is looked up before its request is read"),
    "pre_auth_delay": ("0", (NO_REQUEST,), "each login sleeps that long"),
    "post_auth_delay": ("0", ("startup",), "each login sleeps that long"),
    "session_preload_libraries": ("", ("startup",), "they are loaded at each login"),
}
# What the server logs of those that it asks (src/backend/libpq/auth.c, hba.c, src/backend/tcop/backend_startup.c).
LOGGED: Final = regex(
    r"pg_getnameinfo_all|could not translate|could not get user information|LDAP|RADIUS|PAM|Ident (server|protocol)"
    r"|canceling authentication due to timeout",
    re.IGNORECASE,
)
UNSEEN_PLACE = NotMeasured(
    "what these backends wait for", "another user's processes do not tell", "run as root or as the server's user"
)
UNSEEN_RULES = NotMeasured(
    "authentication methods",
    "pg_hba_file_rules is shown to superusers alone",
    "GRANT SELECT ON pg_hba_file_rules, and EXECUTE ON FUNCTION pg_hba_file_rules(), to the role; or read pg_hba.conf",
)


class Reason(NamedTuple):
    """Why logins take long.

    `is_client`: not the server's doing, nor of one that it asks. `is_known`: something names it besides the phase.
    """

    words: Words
    first_step: Words
    is_client: bool = False
    is_known: bool = False


def is_worth_saying(logins: LoginsUnderWay) -> bool:
    """Whether so many logins are slow that it is more than a bad moment or an odd client."""
    whole = logins.logins or logins.slow
    is_many = logins.slow >= MANY and logins.slow >= LEAST_OF_MANY * whole
    return logins.slow >= LEAST and (logins.slow >= LEAST_SHARE * whole or is_many)


def reason_of(case: Case, logins: LoginsUnderWay) -> Reason:
    """Why they take long, by whom they wait for, settings and phase."""
    asked = max(logins.asked, key=lambda name: logins.asked[name], default="")
    if _waits_for_clients(case, logins):
        step = "Look who they are (ss -tnp state established), and what keeps them: the client itself, or its network."
        what = "say nothing" if logins.phase == NO_REQUEST else "do not answer"
        return Reason(phrase("their clients {}", what), step, is_client=True, is_known=bool(logins.places))
    if asleep := delay(case, logins.db, logins.phase):
        return asleep
    if logins.phase == NO_REQUEST:
        if asked.startswith(NAMES) or case.setting("log_hostname", logins.db) == "on":
            step = "log_hostname = off and a reload (SELECT pg_reload_conf()): the log then has addresses."
            return Reason("the server looks up the name of each client first", step, is_known=True)
        step = "See what the backend does before it reads the request: perf trace -p, or gdb, on one of them."
        return Reason("the server has not read who they are", step)
    if logins.phase == AUTHENTICATION:
        time_it = phrase("Time {} by itself, from the server's host.", asked or "what pg_hba.conf has the server ask")
        known = bool(asked) or case.setting(RULES, logins.db) not in (None, "none")
        return Reason(phrase("authentication asks {}", asked) if asked else "authentication", time_it, is_known=known)
    step = "Look at session_preload_libraries, login triggers, and who locks tables of the catalogue (pg_locks)."
    return Reason("their sessions start slowly", step)


def delay(case: Case, db: str, phase: str | None = None, least_s: float = 0.0) -> Reason | None:
    """A developer's setting that has each login sleep so long and longer, in a phase or in any; null: none is set."""
    for name in DELAYS:
        value = case.setting(name, db)
        if value not in (None, "0") and float(value) >= least_s and phase in (None, *SETTINGS[name][1]):
            step = phrase("ALTER SYSTEM RESET {} (or its line in postgresql.conf), then SELECT pg_reload_conf().", name)
            return Reason(phrase("{} = {} s has each of them sleep", name, value), step, is_known=True)
    return None


def evidence(case: Case, logins: LoginsUnderWay) -> Iterator[Evidence]:
    """What speaks for it: how many and how long, in what they are, what they wait for, what the server is set to."""
    of_db = f"and db = '{logins.db}'"
    of_all = "" if logins.logins is None else phrase("of about {:.0f} in all", logins.logins)
    yield Evidence("statistic", f"name = '{SLOW}' {of_db}",
                   phrase("{:.0f} logins of {:.0f s} and more", logins.slow, SLOW_S), "", of_all)  # fmt: skip
    yield Evidence("statistic", f"name = '{OLDEST}' {of_db}",
                   phrase("the oldest not yet in after {:time}", logins.oldest_s), phrase("{:time}", SLOW_S),
                   "no view of the server shows it: the kernel does", "at_least")  # fmt: skip
    yield Evidence("statistic", f"name = '{UNDER_WAY}' {of_db}", phrase("about {:time} each", logins.mean_s), "",
                   "an estimate, by Little's law: logins under way at a time over those that come")  # fmt: skip
    yield Evidence("statistic", f"name = '{SLOW}' {of_db}",
                   phrase("{:.0f} of them in: {}", logins.phases[logins.phase], logins.phase), "",
                   _of_phase(logins.phase))  # fmt: skip
    for place, count in sorted(logins.places.items(), key=lambda told: -told[1])[:2]:
        yield Evidence("statistic", f"name = '{SLOW_IN}' {of_db}", phrase("{:.0f} asleep in {}", count, place), "",
                       "the place in the kernel (wchan)")  # fmt: skip
    for service, count in sorted(logins.asked.items(), key=lambda told: -told[1])[:2]:
        yield Evidence("statistic", f"name = '{ASKING}' {of_db}", phrase("{:.0f} asked {}", count, service), "",
                       "that it does not answer soon is what they wait for")  # fmt: skip
    for one in held(case.dataset, logins.db)[:2]:
        if one.client:
            yield Evidence("statistic", f"name = '{HELD}' {of_db}",
                           phrase("{:.0f} at a time from {}", one.count, one.client), "",
                           phrase("the oldest after {:time}", one.oldest_s))  # fmt: skip
    yield from settings(case, logins.db, logins.phase)
    yield from _log(case, logins.db)


def against(case: Case, logins: LoginsUnderWay) -> list[Evidence]:
    """That our own login through the Unix socket is quick: it has no name, and other rules."""
    told = case.dataset.frame("latency").filter(
        (pl.col("db") == logins.db) & pl.col("subject").str.starts_with("login local: ") & (pl.col("count") > 0)
    )
    parts = told.group_by("subject", maintain_order=True).agg(pl.col("waited_us").sum() / pl.col("count").sum())
    seconds = float(parts["waited_us"].sum()) / 1e6
    if parts.is_empty() or seconds >= SLOW_S:
        return []
    why = "it comes through the Unix socket: no address to look up, and other lines of pg_hba.conf"
    where = f"subject like 'login local: %' and db = '{logins.db}'"
    return [Evidence("latency", where, phrase("our own login takes {:time}", seconds), "", why)]


def unseen(case: Case, logins: LoginsUnderWay) -> tuple[NotMeasured, ...]:
    """What would tell more, and was not granted."""
    rules = logins.phase == AUTHENTICATION and case.setting(RULES, logins.db) is None
    return (*(() if logins.places else (UNSEEN_PLACE,)), *((UNSEEN_RULES,) if rules else ()))


def _waits_for_clients(case: Case, logins: LoginsUnderWay) -> bool:
    """By the kernel where it tells; else where nothing else is done before the request is read."""
    if logins.for_clients is not None:
        return logins.for_clients >= MOSTLY and not logins.asked
    nothing_else = all(case.setting(name, logins.db) == idle for name, (idle, phases, _) in SETTINGS.items()
                       if NO_REQUEST in phases)  # fmt: skip
    return logins.phase == NO_REQUEST and nothing_else and not logins.asked


def _of_phase(phase: str) -> Words:
    if phase == NO_REQUEST:
        return "its title is still the postmaster's: nobody knows yet who it is"
    return "by the title of the process"


def settings(case: Case, db: str, phase: str | None = None) -> Iterator[Evidence]:
    """What the server is set to that has each login wait, in a phase or in any."""
    for name, (idle, phases, why) in SETTINGS.items():
        value = case.setting(name, db)
        if value not in (None, idle) and phase in (None, *phases):
            yield Evidence("setting", f"name = '{name}'", phrase("{} = {}", name, value), "", why)
    rules = case.setting(RULES, db)
    if phase in (None, AUTHENTICATION) and rules not in (None, "none"):
        yield Evidence("setting", f"name = '{RULES}'", phrase("pg_hba.conf, {}", rules), "",
                       "another server is asked at each login that comes to such a line")  # fmt: skip


def _log(case: Case, db: str) -> Iterator[Evidence]:
    for error in case.figures("log.errors"):
        if error.db == db and error.entity and error.mean > 0 and LOGGED.search(error.entity):
            yield Evidence("statistic", f"name = 'log.errors' and db = '{db}'",
                           _count_of(error.mean * error.seconds), "", error.entity)  # fmt: skip


def _count_of(count: float) -> Phrase:
    return phrase("{:count message/messages} in the log", round(count))
