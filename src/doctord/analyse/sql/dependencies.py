"""By which way a statement reads a table that it does not name: a key, a trigger, a function, a view, a parent."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.regex import regex

FOREIGN_KEYS: Final = "pg_constraint"
TRIGGERS: Final = "pg_trigger"
FUNCTIONS: Final = "pg_proc"
VIEWS: Final = "pg_rewrite"
EXECUTES: Final = "(execute)"
"""What a function that makes up statements reads, besides what its source names."""
FOREIGN_TABLES: Final = "pg_foreign_table"
EVENT_TRIGGERS: Final = "pg_event_trigger"
INHERITS: Final = "pg_inherits"
COMPONENTS: Final = (FOREIGN_KEYS, TRIGGERS, FUNCTIONS, VIEWS, FOREIGN_TABLES, EVENT_TRIGGERS, INHERITS)
PARENT: Final = "parent"
"""What a way is by which a statement reads the children of the table that it names."""

# The command's words stand here.
BEGINNING: Final = 80
_KEY: Final = regex(r"^\((?P<columns>.*)\) references (?P<table>.*)$")
_TRIGGER: Final = regex(
    r"^(?P<when>[a-z ]+?) (?P<events>[a-z, ]+) for each (?P<level>\w+)(?P<deferred>, deferred)?: (?P<function>.*)$"
)
_EVENT_TRIGGER: Final = regex(r"^(?P<event>\w+)(?: \((?P<commands>[A-Z, ]+)\))?: (?P<function>.*)$")
# Which statements an event is of. Source: PostgreSQL documentation, "Overview of Event Trigger Behavior".
_FIRES: Final = {
    "sql_drop": regex(r"^\s*(?:drop|alter)\b", re.IGNORECASE),
    "table_rewrite": regex(r"^\s*alter\b", re.IGNORECASE),
    **dict.fromkeys(
        ("ddl_command_start", "ddl_command_end"),
        regex(r"^\s*(?:create|alter|drop|comment|grant|revoke|reindex|refresh|security|import)\b", re.IGNORECASE),
    ),
}
_NAME: Final = regex(r"[^\W\d][\w$]*")
_FOREIGN: Final = regex(r"^server (?P<server>.*) \((?P<wrapper>[^()]*)\)(?:, fetch_size (?P<size>\d+))?$")
_WRITTEN: Final = regex(
    r"\b(?P<verb>insert\s+into|update|delete\s+from|merge\s+into|copy|truncate)\s+(?:table\s+)?(?:only\s+)?"
    r'(?P<table>"?[\w$]+"?(?:\."?[\w$]+"?)?)',
    re.IGNORECASE,
)
_EVENTS: Final = {
    "insert": ("insert",), "copy": ("insert",), "update": ("update",), "delete": ("delete",),
    "merge": ("insert", "update", "delete"), "truncate": ("truncate",),
}  # fmt: skip


class ForeignKey(NamedTuple):
    """A foreign key that no index of its own table begins with: its columns, and the table that they refer to."""

    name: str
    columns: tuple[str, ...]
    referenced: str


class Trigger(NamedTuple):
    """A trigger of a table (`schema.table`): when it fires, for each `row` or `statement`, and its function.

    A deferred one (INITIALLY DEFERRED) fires at COMMIT.
    """

    name: str
    table: str
    when: str
    events: tuple[str, ...]
    level: str
    function: str
    is_deferred: bool = False


class EventTrigger(NamedTuple):
    """A trigger of an event (`ddl_command_end`, say), for the commands named, else for all, and its function."""

    name: str
    event: str
    commands: tuple[str, ...]
    function: str


class Write(NamedTuple):
    """What a statement writes: the table as its text names it, without schema, and the events that triggers see."""

    table: str
    events: tuple[str, ...]


class ForeignTable(NamedTuple):
    """A foreign table (`schema.table`): its server, the wrapper of that, and fetch_size where it is set."""

    name: str
    server: str
    wrapper: str
    fetch_size: int | None


class Dependencies:
    """What depends on what in one database of a server; names are `schema.name`."""

    def __init__(self, dataset: Dataset, db: str | None, database: str) -> None:
        """`database` is that of the tables."""
        told, start = dataset.derived("setting", _last), f"{database}."
        self._told = {
            component: {
                name.removeprefix(start): value
                for name, value in told.get((db, component), {}).items()
                if name.startswith(start)
            }
            for component in COMPONENTS
        }
        self._uses = {
            name: tuple(value.split(", "))
            for component in (FUNCTIONS, VIEWS)
            for name, value in self._told[component].items()
        }
        self._children = dict[str, tuple[str, ...]]()
        for child, parent in self._told[INHERITS].items():
            self._children[parent] = (*self._children.get(parent, ()), child)
        self._uses |= self._children

    def foreign_keys(self, table: str) -> Iterator[ForeignKey]:
        """The foreign keys of a table that no index serves."""
        for name, value in self._of(FOREIGN_KEYS, table):
            if found := _KEY.match(value):
                yield ForeignKey(name, tuple(found["columns"].split(", ")), found["table"])

    def every_trigger(self) -> Iterator[Trigger]:
        """All triggers of tables, by table and name."""
        for named, value in self._told[TRIGGERS].items():
            table, _, name = named.partition(" ")
            if found := _TRIGGER.match(value):
                events = tuple(found["events"].split(", "))
                is_deferred = found["deferred"] is not None
                yield Trigger(name, table, found["when"], events, found["level"], found["function"], is_deferred)

    def triggers(self, text: str) -> Iterator[Trigger]:
        """The triggers that a statement fires, by what its text writes."""
        for write in writes(text):
            for one in self.every_trigger():
                if bare(one.table) == write.table and {*one.events} & {*write.events}:
                    yield one

    def reads(self, name: str) -> frozenset[str]:
        """All that a function, a view or a parent reads, be it by way of others; empty where that is not known."""
        found, ahead = set[str](), [name]
        while ahead:
            for used in self._uses.get(ahead.pop(), ()):
                if used not in found:
                    found.add(used)
                    ahead.append(used)
        return frozenset(found)

    def way(self, text: str, table: str) -> str | None:
        """The view, function or parent (`view public.open_orders`) by which a statement reads a table; null: none."""
        words = names(text)
        ways = (("view", self._told[VIEWS]), ("function", self._told[FUNCTIONS]), (PARENT, self._children))
        for kind, told in ways:
            for name in told:
                if bare(name) in words and table in self.reads(name):
                    return f"{kind} {name}"
        return None

    def foreign_tables(self, text: str) -> Iterator[ForeignTable]:
        """The foreign tables that a statement reads: its text names them, or a view or function that reads them."""
        words = names(text)
        for name, value in self._told[FOREIGN_TABLES].items():
            found = _FOREIGN.match(value)
            if found and (bare(name) in words or self.way(text, name)):
                yield ForeignTable(
                    name, found["server"], found["wrapper"], int(found["size"]) if found["size"] else None
                )

    def event_triggers(self, text: str) -> Iterator[EventTrigger]:
        """The event triggers that a statement fires which defines something (DDL), as far as its first words tell."""
        words = {word.upper() for word in _NAME.findall(text[:BEGINNING])}
        for name, value in self._told[EVENT_TRIGGERS].items():
            found = _EVENT_TRIGGER.match(value)
            if found is None or found["event"] not in _FIRES or not _FIRES[found["event"]].match(text):
                continue
            commands = tuple(found["commands"].split(", ")) if found["commands"] else ()
            if not commands or any(words >= {*command.split()} for command in commands):
                yield EventTrigger(name, found["event"], commands, found["function"])

    def _of(self, component: str, table: str) -> Iterator[tuple[str, str]]:
        start = f"{table} "
        return ((name[len(start) :], it) for name, it in self._told[component].items() if name.startswith(start))


def writes(text: str) -> Iterator[Write]:
    """What a statement writes, also within a WITH.

    >>> [(one.table, one.events) for one in writes("WITH gone AS (DELETE FROM ONLY a.b RETURNING *) SELECT 1")]
    [('b', ('delete',))]
    """
    for found in _WRITTEN.finditer(text):
        verb = found["verb"].split()[0].lower()
        yield Write(bare(found["table"].replace('"', "")), _EVENTS[verb])


def names(text: str) -> frozenset[str]:
    """All words of a statement that may be names, in small letters."""
    return frozenset(word.lower() for word in _NAME.findall(text))


def bare(name: str) -> str:
    """A name without its schema, in small letters."""
    return name.rpartition(".")[2].lower()


def _last(setting: pl.DataFrame) -> dict[tuple[str | None, str], dict[str, str]]:
    """What was told last, by server and component, and within by name."""
    rows = setting.filter(pl.col("component").is_in(COMPONENTS)).sort("ts", maintain_order=True)
    found: dict[tuple[str | None, str], dict[str, str | None]] = {}
    for db, component, name, value in rows.select("db", "component", "name", "value").iter_rows():
        found.setdefault((db, component), {})[name] = value
    return {key: {name: value for name, value in sorted(told.items()) if value} for key, told in found.items()}
