"""Settings of a role or database that are worse for statements than the server's own, and which work each governs."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from doctord.analyse.sql.conditions import tables_of
from doctord.analyse.sql.role_settings import RoleSetting, in_force, of_server
from doctord.analyse.sql.statements import Statement
from doctord.dataset.catalogue import catalogue
from doctord.diagnose.case import Case
from doctord.diagnose.common.slowed import FELT_MS
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex
from doctord.units import setting_number

# The default of work_mem: what has no less is starved by nobody, unless its statements spill.
ENOUGH_BYTES: Final = 4.0 * 2**20
# Less is meant by nobody: a number without its unit.
SLIP_BYTES: Final = 1.0 * 2**20
# 64 kB is the least that can be set: twice that and more may have been thought of.
MEANT_BYTES: Final = 128.0 * 2**10
# Costs are guesses: less than this many times apart they seldom make another plan of a statement.
TIMES_APART: Final = 2.5
# A page at random for four in sequence is the default.
DEAR_RANDOM: Final = 4.0
# A tenth of the server's: the planner thinks of a small machine.
TENTH: Final = 0.1
# A tenth of the default of jit_above_cost: statements of milliseconds are compiled.
LOW_COST: Final = 10_000.0
JIT_FUNCTIONS: Final = "pg_stat_statements.jit_functions"

ON_TABLES: Final = regex(r"^\s*(with\b|select\b.*\bfrom\b|insert\b.*\bselect\b|update\b|delete\b|merge\b)", re.I | re.S)
SORTS: Final = regex(r"\b(order\s+by|group\s+by|distinct|union|except|intersect|over\s*\()", re.IGNORECASE)
SUBPLAN: Final = regex(r"\b(in|all|any|some)\s*\(\s*select\b", re.IGNORECASE)
JOINED: Final = regex(r"\bjoin\b|\bexists\s*\(", re.IGNORECASE)
PARAMETER: Final = regex(r"\$\d")

Values = Callable[[str], tuple[str | None, str | None]]
"""The value of a setting for the role, and that of the server; null where it is not known."""


class Kind(NamedTuple):
    """A kind of settings: which are worse than the server's, which statements they govern, what they then do."""

    names: re.Pattern[str]
    is_worse: Callable[[str, Values], bool]
    governs: Callable[[Statement, str], bool]
    why: str
    symptoms: tuple[str, ...] = ()


class Worse(NamedTuple):
    """A setting of a role or database beside the server's own, which is better."""

    own: RoleSetting
    server: str
    kind: Kind

    @property
    def is_slip(self) -> bool:
        """Whether its value alone says that it is wrong: a little less memory may be meant so."""
        number = setting_number(self.own.value, self.own.unit)
        return self.own.scope.name != "work_mem" or number is None or number < SLIP_BYTES

    @property
    def may_be_meant(self) -> bool:
        """Whether somebody may have given a role so much memory on purpose, and no more."""
        number = setting_number(self.own.value, self.own.unit)
        return self.own.scope.name == "work_mem" and number is not None and number >= MEANT_BYTES

    @property
    def words(self) -> Words:
        """Name and value."""
        return phrase("{} = {}", self.own.scope.name, shown(self.own.value, self.own.unit))


def worse(case: Case, db: str, user: str | None, database: str | None) -> tuple[Worse, ...]:
    """What is set for a role in a database to the worse of its statements, by name."""
    own = in_force(case.dataset, db, user, database)
    return tuple(_worse(case, db, own))


def governs(case: Case, one: Worse, statement: Statement) -> bool:
    """Whether a statement shows the work that a setting governs."""
    if one.kind is JIT and case.figures(JIT_FUNCTIONS):
        compiled = {figure.entity for figure in case.figures(JIT_FUNCTIONS) if figure.mean > 0}
        return statement.statement_id in compiled
    return one.kind.governs(statement, one.own.value)


def spills(statement: Statement) -> bool:
    """Whether it writes temporary files."""
    return (statement.temp_bytes_per_s or 0.0) > 0


def shown(value: str, unit: str | None) -> Words:
    """A value of pg_settings: a size as such, any other with its unit."""
    number = setting_number(value, unit)
    if unit and unit.endswith("B") and number is not None and number >= 0:
        return phrase("{:bytes}", number)
    return f"{value} {unit}" if unit else value


def _worse(case: Case, db: str, own: Mapping[str, RoleSetting]) -> Iterator[Worse]:
    def values(name: str) -> tuple[str | None, str | None]:
        known = catalogue("postgresql").get(name)
        server = of_server(case.dataset, name, db) or (known.default if known else None)
        return (own[name].value if name in own else server), server

    for name, setting in sorted(own.items()):
        server = values(name)[1]
        kind = next((kind for kind in KINDS if kind.names.fullmatch(name)), None)
        if kind is not None and server is not None and kind.is_worse(name, values):
            yield Worse(setting, server, kind)


def _numbers(name: str, values: Values) -> tuple[float, float] | None:
    """The role's and the server's value as numbers; a size in bytes. Null where either is none."""
    known = catalogue("postgresql").get(name)
    mine, servers = (setting_number(one, known.unit if known else None) if one else None for one in values(name))
    return (mine, servers) if mine is not None and servers is not None else None


def _is_less(name: str, values: Values, times: float = 1.0) -> bool:
    both = _numbers(name, values)
    return both is not None and both[0] < both[1] * times


def _is_off(name: str, values: Values) -> bool:
    return values(name) == ("off", "on")


def _is_generic(name: str, values: Values) -> bool:
    mine, servers = values(name)
    return mine == "force_generic_plan" != servers


def _compiles_more(name: str, values: Values) -> bool:
    """JIT that the server has off, or costs from which on it compiles far below the default and the server's."""
    if values("jit")[0] != "on":
        return False
    cost = _numbers("jit_above_cost", values)
    if cost is None or not 0 <= cost[0] < LOW_COST:
        return name == "jit" and values("jit")[1] == "off"
    return name == "jit" or cost[0] < cost[1]


def _is_dearer(_: str, values: Values) -> bool:
    """A page at random far dearer beside one in sequence than the server has it, or, turned around, cheaper."""
    random, sequential = (_numbers(name, values) for name in ("random_page_cost", "seq_page_cost"))
    if random is None or sequential is None or not all((*random, *sequential)):
        return False
    mine, servers = random[0] / sequential[0], random[1] / sequential[1]
    return mine > max(TIMES_APART * servers, DEAR_RANDOM) or mine < 1 <= servers


def _sorts_or_hashes(one: Statement, value: str) -> bool:
    """Temporary files; or far too little memory for what it joins: a hashed subplan or another join has no files."""
    if spills(one):
        return True
    number = setting_number(value, "kB") or 0.0
    if number >= ENOUGH_BYTES or (one.elapsed_ms or 0.0) < FELT_MS:
        return False
    return _joins(one, value) or (one.temp_bytes_per_s is None and _sorts(one, value))


def _joins(one: Statement, _: str) -> bool:
    text = one.text or ""
    return any(pattern.search(text) for pattern in (SUBPLAN, JOINED)) or len(tables_of(text)) > 1


def _sorts(one: Statement, _: str) -> bool:
    return SORTS.search(one.text or "") is not None


def _is_planned(one: Statement, _: str) -> bool:
    return ON_TABLES.search(one.text or "") is not None


def _has_parameters(one: Statement, value: str) -> bool:
    return _is_planned(one, value) and PARAMETER.search(one.text or "") is not None


def _joins_more(one: Statement, value: str) -> bool:
    return value.isdigit() and len(tables_of(one.text or "")) > int(value)


OF_INDEXES: Final = ("index_not_used",)
OF_JOINS: Final = ("index_not_used", "missing_index")
JIT: Final = Kind(regex("jit|jit_above_cost"), _compiles_more, _is_planned,
                  "compiled just in time at each execution", ("jit_compiles_much",))  # fmt: skip
MEMORY: Final = Kind(regex("work_mem|hash_mem_multiplier"), _is_less, _sorts_or_hashes,
                     "what it sorts and hashes does not fit: files, or a plan that can do without",
                     ("sort_spill", *OF_JOINS))  # fmt: skip
KINDS: Final = (
    MEMORY,
    Kind(regex("enable_(hashjoin|mergejoin|nestloop|memoize|material)"), _is_off, _joins,
         "the planner may not join that way", OF_JOINS),
    Kind(regex("enable_(sort|incremental_sort|hashagg|presorted_aggregate)"), _is_off, _sorts,
         "the planner may not sort or group that way"),
    Kind(regex(r"enable_\w+"), _is_off, _is_planned, "the planner may not take it", OF_INDEXES),
    Kind(regex("plan_cache_mode"), _is_generic, _has_parameters,
         "prepared statements are planned without the values that they are called with", OF_INDEXES),
    JIT,
    Kind(regex("random_page_cost|seq_page_cost"), _is_dearer, _is_planned,
         "ways by an index seem dearer, or cheaper, than they are", OF_INDEXES),
    Kind(regex("effective_cache_size"), lambda name, values: _is_less(name, values, TENTH), _is_planned,
         "ways by an index seem dearer than they are", OF_INDEXES),
    Kind(regex("(join|from)_collapse_limit"), _is_less, _joins_more,
         "tables are joined in the order in which the statement names them"),
)  # fmt: skip
