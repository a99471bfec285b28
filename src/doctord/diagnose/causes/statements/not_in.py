"""NOT IN over a subquery whose list does not fit its hash table: it is gone through for each row."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.plan_steps import dearest, unseen
from doctord.diagnose.common.scans import FOR_WANT_OF_AN_INDEX, per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.common.whole_reads import WholeRead, scanned, whole_reads
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex
from doctord.units import setting_number

# The first table of the list; a condition of the subquery's own may follow.
LIST: Final = regex(r"\bnot\s+in\s*\(\s*select\b[^()]*?\bfrom\s+(?:only\s+)?([\w$\".]+)", re.IGNORECASE)
# To write a list down and read it a few times takes less, whatever stands in a row of it.
BYTES_A_ROW: Final = 500.0
# A row of a hash table: 24 bytes and the value, of which a wide one is reckoned with. A list that fits so is hashed.
HASHED_BYTES: Final = 128.0
LIMITS: Final = ("work_mem", "hash_mem_multiplier")
THE_PLAN: Final = NotMeasured(
    "whether the list is hashed",
    "plans are not recorded",
    "explain: `hashed SubPlan` is a hash table, `SubPlan` over Materialize goes through the list",
)


@cause(explains=("missing_index", "index_not_used", "sort_spill", *FOR_WANT_OF_AN_INDEX))
def not_in_goes_through_a_list(case: Case) -> Iterator[Claim]:
    """A statement with NOT IN (SELECT ...) goes through the whole list for each of its rows.

    Looks like: a statement that was quick as long as the list was short takes much of the database time; the list's
        table is read whole at each call, and the statement writes and reads temporary files many times as large.
    Hurts because: a list that is larger than work_mem times hash_mem_multiplier is not kept in a hash table: it is
        written down, and gone through from its beginning for each row of the statement. NOT IN cannot be an
        anti join, because of what it says of nulls.
    Speaks for it: the NOT IN in the statement's text; rows of the list; temporary bytes of each call against them.
    Speaks against it: nothing here: a list that fits into its hash table is left out. The statement may sort as well.
    Remedy: NOT EXISTS (SELECT FROM list WHERE list.column = outer.column) in place of NOT IN: it is planned as an anti
        join. Until that is released, give the statement's role a work_mem that holds the list (some 50 bytes a row and
        its value). An index on the list's column does not help NOT IN.
    Verify: explain shows an anti join, or a `hashed SubPlan`; the statement's temporary bytes and time per call fall.
    Source: PostgreSQL documentation, "Subquery Expressions" (NOT IN), work_mem, hash_mem_multiplier; PostgreSQL wiki,
        "Don't Do This" (Don't use NOT IN).
    """
    for read in whole_reads(case):
        for one in case.statements:
            if one.db == read.figure.db and _lists(one, read) and _goes_through(case, one, read):
                yield _claim(case, one, read)
                return


def _lists(one: Statement, read: WholeRead) -> bool:
    """Whether the table is the list of a NOT IN of the statement."""
    schema, _, bare = read.table.rpartition(".")
    named = {name.replace('"', "").lower() for name in LIST.findall(one.text or "")}
    return bool(named & {bare.lower(), f"{schema}.{bare}".lower()})


def _goes_through(case: Case, one: Statement, read: WholeRead) -> bool:
    """Whether the list may not fit its hash table, and each call reads enough to go through it again and again."""
    room = _room_bytes(case, one)
    if room is not None and HASHED_BYTES * read.rows < room:
        return False
    if not one.calls_per_s or one.temp_bytes_per_s is None or read.part_of(one) == 0.0:
        return False
    return one.temp_bytes_per_s / one.calls_per_s >= BYTES_A_ROW * read.rows


def _room_bytes(case: Case, one: Statement) -> float | None:
    """What a hash table may take, as who runs the statement has it set; null where that is not known.

    Source: PostgreSQL, src/backend/optimizer/plan/subselect.c, subplan_is_hashable.
    """
    memory, times = (case.setting_for(name, one.db, one.statement_id) or "" for name in LIMITS)
    room = setting_number(memory, "kB")
    return None if room is None else room * (setting_number(times) or 1.0)  # before version 13 there is no multiplier


def _claim(case: Case, one: Statement, read: WholeRead) -> Claim:
    each = (one.temp_bytes_per_s or 0.0) / (one.calls_per_s or 1.0)
    where = f"statement_id = '{one.statement_id}'"
    limits = [
        phrase("{} = {}{}", name, value, " kB" if name == "work_mem" and value.isdigit() else "")
        for name in LIMITS
        if (value := case.setting_for(name, one.db, one.statement_id))
    ]
    return Claim(
        phrase("{:share of database} goes through the list of a NOT IN for each row: all of {}", one.share, read.table),
        impact=one.share,
        confidence=0.8,
        severity=severity(case, one.share, slowed=is_slowed(one, 1.0)),
        for_=[
            Evidence("statement", where, per_call(one), "", shortened(one.text or "")),
            scanned(read),
            Evidence("statement", where, phrase("{:bytes} of temporary files a call", each),
                     phrase("{:bytes}", BYTES_A_ROW * read.rows), "the list is written, and read again and again",
                     "at_least"),
            *([Evidence("setting", f"name in {LIMITS}", listed(*limits), "", "what the list does not fit into")]
              if limits else []),
            *dearest(case, one),
        ],
        not_measured=unseen(case, one, THE_PLAN),
        database=one.db,
    )  # fmt: skip
