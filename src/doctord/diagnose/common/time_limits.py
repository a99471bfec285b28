"""Time-outs of PostgreSQL that end statements and sessions: which one it was, how long it is, and who set it."""

from typing import Final, NamedTuple

from doctord.analyse.errors import Logged, met
from doctord.analyse.sql.role_settings import RoleSetting, in_force, of_server, role_settings
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex
from doctord.units import setting_number

# Words of the message (postgres.c, ProcessInterrupts), versions 13 to 18, and the setting behind it.
SETTINGS: Final = {
    "due to statement timeout": "statement_timeout",
    "due to lock timeout": "lock_timeout",
    "due to idle-in-transaction timeout": "idle_in_transaction_session_timeout",
    "due to transaction timeout": "transaction_timeout",
    "due to idle-session timeout": "idle_session_timeout",
}
UNIT: Final = "ms"
_USER: Final = regex(r"\buser (?P<name>[^,]+)")
_DATABASE: Final = regex(r"\bdatabase (?P<name>[^,]+)")


class Client(NamedTuple):
    """Role and database of the client that met a message most; null where the log does not tell."""

    role: str | None
    database: str | None


class TimeLimit(NamedTuple):
    """A time-out that ended something: its length in seconds, null where it is not set in the server, and who set it.

    `whose` is null for the server's own; what is set nowhere there, the session has set for itself.
    """

    setting: str
    seconds: float | None
    whose: str | None
    alter: str | None

    @property
    def words(self) -> Words:
        """The setting with its value, and for whom it is set."""
        if self.seconds is None:
            return phrase("{}, which the session itself has set", self.setting)
        return phrase("{} = {:time}{}", self.setting, self.seconds, f", set for {self.whose}" if self.whose else "")


def client_of(case: Case, one: Logged) -> Client:
    """Who met a message most."""
    who = next((who for who, _ in met(case.dataset, one)), "")
    role, database = _USER.search(who), _DATABASE.search(who)
    return Client(role["name"] if role else None, database["name"] if database else None)


def time_limit(case: Case, one: Logged) -> TimeLimit | None:
    """The time-out that a message tells of; null where it tells of none, or the settings are not known."""
    name = next((setting for words, setting in SETTINGS.items() if words in one.message), None)
    of_all = of_server(case.dataset, name, one.db) if name else None
    if name is None or of_all is None:
        return None
    own = _own(case, one, name)
    seconds = setting_number(own.value if own else of_all, UNIT)
    return TimeLimit(name, seconds or None, own.scope.whose if own else None, own.scope.alter if own else None)


def _own(case: Case, one: Logged, name: str) -> RoleSetting | None:
    """What is set for the role and database that met it; where the log does not tell who, the shortest of any."""
    client = client_of(case, one)
    if client != Client(None, None):
        return in_force(case.dataset, one.db, *client).get(name)
    set_for_some = [
        (seconds, each)
        for each in role_settings(case.dataset)
        if (each.db, each.scope.name) == (one.db, name) and (seconds := setting_number(each.value, UNIT))
    ]
    return min(set_for_some, key=lambda pair: pair[0])[1] if set_for_some else None


def evidence(case: Case, one: Logged) -> list[Evidence]:
    """What ended it, as a setting; empty where that is not known."""
    limit = time_limit(case, one)
    if limit is None:
        return []
    where = f"name like '%{limit.setting}' and db = '{one.db}'"
    if limit.alter:
        why: Words = phrase("{} SET {} changes it", limit.alter, limit.setting)
    else:
        why = "of the server itself" if limit.seconds else "by SET, in its connection string, or by its driver or pool"
    return [Evidence("setting", where, limit.words, "", why)]
