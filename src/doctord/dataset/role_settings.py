"""Names of settings that hold for a role or a database only, as pg_db_role_setting has them: `ROLE DATABASE name`.

Both names are quoted as SQL would have them, so that `*` alone stands for every role, or every database.
"""

from typing import Final, NamedTuple

from doctord.dataset.secrets import HIDDEN
from doctord.regex import regex
from doctord.units import one_of, setting_number

COMPONENT: Final = "pg_db_role_setting"
ALL: Final = "*"
# In place of such a name: here a collector read all of them, this many, and what was told before holds no more. Who
# was not there when one was reset can tell of it in no other way.
READING: Final = "reading"
# Strings whose values are names of what the server has; any other text may hold anything.
NAMES_ALONE: Final = ("search_path", "default_tablespace", "temp_tablespaces", "TimeZone", "client_encoding")

# What is logged: of extensions too, which pg_settings of our own session may not know.
LOGGING: Final = regex(r"log_\w+|debug_print_\w+|auto_explain\.\w+|pgaudit\.log|\w+_preload_libraries")

_QUOTED: Final = r'"(?:[^"]|"")*"|[^\s"]+'
_NAME: Final = regex(rf"(?P<role>{_QUOTED}) (?P<database>{_QUOTED}) (?P<name>\S+)")
_PLAIN: Final = regex(r"[a-z_][a-z0-9_$]*")


class Scope(NamedTuple):
    """For whom a setting holds, and which: null stands for every role, and for every database."""

    role: str | None
    database: str | None
    name: str

    @property
    def whose(self) -> str:
        """For whom it holds, in words.

        >>> Scope("app", None, "work_mem").whose, Scope("app", "shop", "work_mem").whose, Scope(None, "b", "jit").whose
        ('role app', 'role app in database shop', 'database b')
        """
        of = "every role" if self.role is None else f"role {self.role}"
        if self.role is None and self.database is not None:
            return f"database {self.database}"
        return of if self.database is None else f"{of} in database {self.database}"

    @property
    def alter(self) -> str:
        """The statement that changes it, without what comes then.

        >>> Scope("app", "shop", "jit").alter, Scope("App", None, "jit").alter, Scope(None, None, "jit").alter
        ('ALTER ROLE app IN DATABASE shop', 'ALTER ROLE "App"', 'ALTER ROLE ALL')
        """
        if self.role is None and self.database is not None:
            return f"ALTER DATABASE {quoted(self.database)}"
        inside = "" if self.database is None else f" IN DATABASE {quoted(self.database)}"
        return f"ALTER ROLE {'ALL' if self.role is None else quoted(self.role)}{inside}"

    @property
    def text(self) -> str:
        """The name as `setting` has it.

        >>> Scope("App", None, "work_mem").text
        '"App" * work_mem'
        """
        parts = (ALL if one is None else quoted(one) for one in (self.role, self.database))
        return " ".join((*parts, self.name))


def scope_of(text: str) -> Scope | None:
    """For whom a setting of that name holds; null where it is no such name.

    >>> scope_of('"My role" * work_mem'), scope_of('* "*" jit'), scope_of("work_mem")
    (Scope(role='My role', database=None, name='work_mem'), Scope(role=None, database='*', name='jit'), None)
    """
    found = _NAME.fullmatch(text)
    return Scope(_plain(found["role"]), _plain(found["database"]), found["name"]) if found else None


def quoted(name: str) -> str:
    """A name as SQL takes it.

    >>> quoted("app"), quoted("App"), quoted('a"b')
    ('app', '"App"', '"a""b"')
    """
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def kept(name: str, value: str, unit: str | None, vartype: str | None) -> str:
    """A value as it is kept: in the unit of pg_settings; without what may be a secret.

    Args:
        name: the setting.
        value: as ALTER ROLE or ALTER DATABASE was given it: `64`, `64MB`, `off`, a text.
        unit: of pg_settings; null where it has none.
        vartype: of pg_settings; null where that does not know the setting.

    >>> kept("work_mem", "64", "kB", "integer"), kept("work_mem", "64MB", "kB", "integer")
    ('64', '65536')
    >>> kept("jit", "0", None, "bool")
    'off'
    >>> kept("app.token", "x", None, None), kept("search_path", "shop", None, "string")
    ('(set, not shown)', 'shop')
    >>> kept("auto_explain.log_min_duration", "0", None, None)
    '0'
    """
    if vartype == "bool":
        return _switch(value)
    if vartype == "enum":
        return value.lower()
    if vartype in ("integer", "real"):
        number = setting_number(value, unit)
        return f"{number / one_of(unit):.15g}" if number is not None else value
    is_known = (vartype == "string" and name in NAMES_ALONE) or LOGGING.fullmatch(name)
    return value if not value or is_known else HIDDEN


def _switch(value: str) -> str:
    """`on` or `off` of a word that PostgreSQL takes for one, also of its first letters."""
    word = value.lower()
    is_on = word in {"1", "on"} or "true".startswith(word) or "yes".startswith(word)
    return "on" if is_on else "off"


def _plain(name: str) -> str | None:
    if name.startswith('"'):
        return name[1:-1].replace('""', '"')
    return None if name == ALL else name
