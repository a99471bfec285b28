"""Wide values that lie beside their rows (TOAST), and updates that write them anew with each row."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, Severity, at_most
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

OF_TABLE: Final = "pg_stat_user_tables."
PIECES_IN, PIECES_OUT, PIECES_DEAD = (f"{OF_TABLE}toast_n_{what}" for what in ("tup_ins", "tup_del", "dead_tup"))
UPDATED, INSERTED, DELETED = (f"{OF_TABLE}n_tup_{what}" for what in ("upd", "ins", "del"))
WAL: Final = "pg_stat_wal.wal_bytes"
# TOAST_MAX_CHUNK_SIZE: a wide value is cut in pieces of so many bytes.
PIECE_BYTES: Final = 1996.0
# Each row brings one piece at the least; tables and statements are counted over times that are not quite the same.
A_PIECE: Final = 0.5
# Of the rows that a statement changes: with more that come and go whole, the pieces may be theirs.
FEW: Final = 0.1
# Of the server's log: then it is what the log is.
MOST: Final = 0.5
# Less is written to the log by a server that does next to nothing.
MUCH_BYTES_PER_S: Final = 2.0**20
_SET: Final = regex(r"\bset\b(?P<set>.*?)(?:\bwhere\b|\breturning\b|\bfrom\b|\bwhen\b|;|$)", re.IGNORECASE | re.DOTALL)
# Functions and operators that give a document back with a part of it changed.
_PART: Final = regex(
    r"\bjsonb?_(?:set|insert)\w*\s*\(|\|\||#-|\boverlay\s*\(|\barray_(?:append|prepend|remove)\s*\(", re.IGNORECASE
)
# A column that is set to itself and something: a counter.
_COUNTS: Final = regex(r'^"?(\w+)"?\s*=.*\b\1\b"?\s*[-+](?!>)', re.IGNORECASE | re.DOTALL)
WHETHER_IT_CHANGED: Final = NotMeasured(
    "whether the values changed, and which column it is",
    "the server counts pieces by table",
    "select avg(pg_column_size(COLUMN)) of a few rows; what the application sets; explain (analyze, buffers, wal) of "
    "the statement with the column and without, in a transaction that is rolled back",
)


class Rewritten(NamedTuple):
    """A table whose wide values are written anew: pieces that came and went with updates, and rows, a second.

    `come_and_go` are rows that are inserted and deleted as well: their pieces may be among them.
    """

    db: str | None
    entity: str
    pieces_per_s: float
    updates_per_s: float
    come_and_go_per_s: float

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]

    def is_changed_by(self, statement: Statement) -> bool:
        """Whether the text of a statement updates the table."""
        bare = re.escape(self.table.rpartition(".")[2])
        name = rf'(?:only\s+)?(?:"?\w+"?\.)?"?{bare}"?(?!\w)'
        text = statement.text or ""
        found = re.search(rf"\bupdate\s+{name}|\b(?:insert|merge)\s+into\s+{name}.*\bupdate\s+set\b", text, re.I | re.S)
        return found is not None

    def each(self, statement: Statement) -> float | None:
        """Bytes that a statement writes for each row, at the least; null where its redo is not known."""
        rows = statement.rows_per_s
        return statement.wal_bytes_per_s / rows if statement.wal_bytes_per_s and rows else None


@cause(explains=("statement_dominates", "few_rows_of_many_blocks", "cpu_few_statements"))
def wide_values_rewritten(case: Case) -> Iterator[Claim]:
    """An update writes the wide values of its rows anew (TOAST), with every change of whatever else is in the row.

    Looks like: a statement that sets a counter or a time, and a wide column with it (an object-relational mapper that
        sets all columns); or one that changes a part of a document (jsonb_set, ||), which is written whole. Kilobytes
        of log for each row, and a TOAST table in which as many rows come as go.
    Hurts because: a value of more than some 2 kB is compressed, cut in pieces of 2 kB and put into a table of its own;
        all pieces go into the log, to standbys and the archive, and the old ones stay dead until a vacuum. A column
        that an update does not set keeps its pieces: the new row points to the old ones.
    Speaks for it: rows of the TOAST table that were inserted and deleted, for each row that was updated; what the
        statement writes into the log for each row; its part of all redo; that it sets other columns too, or changes a
        part of a value.
    Speaks against it: a statement that sets the value alone, which may be new each time; rows of the table that are
        inserted and deleted as well. Images of whole pages after a checkpoint make small updates write much, too: they
        bring no row into the TOAST table.
    Remedy: Leave the wide column out of SET where it did not change (Hibernate: @DynamicUpdate; Django:
        save(update_fields=...); by hand: one statement for the counter, one for the document). Keep what changes often
        in columns or in a table of its own beside the document, also a key of a document that is counted up.
        PostgreSQL: where the value has to be written, default_toast_compression = lz4 (from version 14 on) or
        SET STORAGE MAIN for values that compress to less than 2 kB.
    Verify: n_tup_ins and n_tup_del of the TOAST table (pg_stat_all_tables) stand still while the statement runs;
        wal_bytes over rows of it (pg_stat_statements) fall to some hundred bytes.
    Source: PostgreSQL documentation, "TOAST" (an UPDATE preserves unchanged out-of-line values), TOAST_MAX_CHUNK_SIZE,
        pg_stat_all_tables, pg_stat_statements (wal_bytes), pg_stat_wal (wal_fpi), EXPLAIN (WAL).
    """
    for one in rewritten(case):
        statement = _rewriting(case, one)
        if statement is None:
            continue
        share, slowed = statement.share, is_slowed(statement, 1.0)
        if slowed or case.worth_saying(share) or _is_much(case, statement):
            yield _claim(case, one, statement, slowed=slowed)


def rewrites(case: Case, db: str | None, entity: str, statement: Statement) -> bool:
    """Whether a statement writes wide values of a table anew: then it is no reading of them that costs."""
    return any((one.db, one.entity) == (db, entity) and _rewriting(case, one) == statement for one in rewritten(case))


def rewritten(case: Case) -> list[Rewritten]:
    """Tables whose rows are updated and whose wide values come and go, most of these first."""
    names = (PIECES_IN, PIECES_OUT, UPDATED, INSERTED, DELETED)
    into, out, updated, inserted, deleted = (_per_s(case, name) for name in names)
    found = [
        Rewritten(db, entity, min(pieces, out.get((db, entity), 0.0)), updates,
                  min(inserted.get((db, entity), 0.0), deleted.get((db, entity), 0.0)))
        for (db, entity), pieces in into.items()
        if pieces > 0 and (updates := updated.get((db, entity), 0.0)) > 0
    ]  # fmt: skip
    return sorted((one for one in found if one.pieces_per_s > 0), key=lambda one: (-one.pieces_per_s, one.entity))


def _rewriting(case: Case, one: Rewritten) -> Statement | None:
    """The statement that may have written most of the pieces: the one with most redo of those that update the table.

    It wrote some piece for each row. Where the table is not logged, or redo is not told, its rows tell.
    """
    changing = [each for each in case.statements if each.db == one.db and each.rows_per_s and one.is_changed_by(each)]
    able = [each for each in changing if _wrote_pieces(one, each)]
    return max(able, key=lambda each: (each.wal_bytes_per_s or 0.0, each.gets_per_s or 0.0, each.statement_id),
               default=None)  # fmt: skip


def _wrote_pieces(one: Rewritten, statement: Statement) -> bool:
    rows, each = statement.rows_per_s or 0.0, one.each(statement)
    if one.pieces_per_s < A_PIECE * rows:
        return False
    return each >= PIECE_BYTES if each is not None else one.come_and_go_per_s <= FEW * rows


def _claim(case: Case, one: Rewritten, statement: Statement, *, slowed: bool) -> Claim:
    signs, against = _of_text(statement), _others(one, statement)
    wanted = [] if signs else [_alone(statement)]
    much = _is_much(case, statement)
    return Claim(
        phrase("A statement writes the wide values of {} anew with each row{}: {}", one.table, _amount(one, statement),
               shortened(statement.text or "")),
        impact=at_most(statement.share),
        confidence=0.6 if wanted or against else 0.85 if _is_telling(statement) else 0.7,
        severity=_severity(case, statement, slowed=slowed, much=much, is_certain=not wanted and not against),
        for_=[
            Evidence("statistic", f"entity = '{one.entity}' and name like '{OF_TABLE}toast_n_%'",
                     phrase("{:,.0f} pieces/s came into its TOAST table and as many went", one.pieces_per_s),
                     phrase("{:,.0f} rows/s were updated", one.updates_per_s),
                     "what an update does not set is not written", "at_least"),
            *_written(case, one, statement),
            *signs,
            *_dead(case, one),
        ],
        against=[*wanted, *against],
        not_measured=[WHETHER_IT_CHANGED],
        explains=["checkpoints_too_frequent", "wal_buffers_full"] if much else [],
        database=one.db,
    )  # fmt: skip


def _amount(one: Rewritten, statement: Statement) -> Words:
    each = one.each(statement)
    return "" if each is None else phrase(", {:bytes} of log for it", each)


def _severity(case: Case, statement: Statement, *, slowed: bool, much: bool, is_certain: bool) -> Severity | None:
    """A note where the value may have been new; a warning where the server's log is made of it."""
    if not is_certain:
        return "note"
    of_time = severity(case, statement.share, slowed=slowed)
    return "warning" if much and of_time == "note" else of_time


def _written(case: Case, one: Rewritten, statement: Statement) -> list[Evidence]:
    """What the statement writes for each row, and its part of the server's log."""
    each, share = one.each(statement), _share_of_log(case, statement)
    if each is None:
        return [Evidence("statement", f"statement_id = '{statement.statement_id}'",
                         phrase("{:,.0f} rows/s of it", statement.rows_per_s), "", per_call(statement))]  # fmt: skip
    of_log = phrase("{:.0f %} of the redo of the server", share * 100) if share is not None else per_call(statement)
    return [Evidence("statement", f"statement_id = '{statement.statement_id}'",
                     phrase("{:bytes} of redo for each row", each), phrase("{:bytes}", PIECE_BYTES), of_log,
                     "at_least")]  # fmt: skip


def _of_text(statement: Statement) -> list[Evidence]:
    """That the statement sets other columns too, or changes a part of a value."""
    columns = _assigned(statement.text or "")
    signs = list[Words]()
    if len(columns) > 1:
        counts = " with a column that it counts up" if any(map(_COUNTS.search, columns)) else ""
        signs.append(phrase("it sets {} columns at once{}", len(columns), counts))
    if any(map(_PART.search, columns)):
        signs.append("it changes a part of a value")
    why = "a wide one among them is written whole, changed or not"
    return [Evidence("statement", f"statement_id = '{statement.statement_id}'", sign, "", why) for sign in signs]


def _is_telling(statement: Statement) -> bool:
    """Whether the text tells that what changes is little; several columns that are set may all have changed."""
    columns = _assigned(statement.text or "")
    return any(map(_PART.search, columns)) or (len(columns) > 1 and any(map(_COUNTS.search, columns)))


def _assigned(text: str) -> list[str]:
    """The assignments of an UPDATE.

    >>> _assigned("update t set n = n + $1, body = jsonb_set(body, $2, $3) where id = $4")
    ['n = n + $1', 'body = jsonb_set(body, $2, $3)']
    """
    found = _SET.search(text)
    if found is None:
        return []
    parts, depth = [""], 0
    for letter in found["set"]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _alone(statement: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{statement.statement_id}'", "it sets one column alone", "",
                    "the value may be new each time: then it has to be written")  # fmt: skip


def _others(one: Rewritten, statement: Statement) -> list[Evidence]:
    """Rows that come and go whole, and their values with them."""
    if one.come_and_go_per_s <= FEW * (statement.rows_per_s or 0.0):
        return []
    return [Evidence("statistic", f"entity = '{one.entity}' and name in ('{INSERTED}', '{DELETED}')",
                     phrase("{:,.0f} rows/s are inserted and deleted as well", one.come_and_go_per_s), "",
                     "the pieces may be theirs")]  # fmt: skip


def _dead(case: Case, one: Rewritten) -> list[Evidence]:
    dead = case.figure(PIECES_DEAD, one.db, one.entity)
    if not dead or not dead.last:
        return []
    return [Evidence("statistic", f"entity = '{one.entity}' and name = '{PIECES_DEAD}'",
                     phrase("{:,.0f} dead pieces", dead.last), "", "they take room until a vacuum")]  # fmt: skip


def _is_much(case: Case, statement: Statement) -> bool:
    """Whether most of what the server logs is of a statement, and that is not little."""
    share = _share_of_log(case, statement)
    return share is not None and share >= MOST and (statement.wal_bytes_per_s or 0.0) >= MUCH_BYTES_PER_S


def _share_of_log(case: Case, statement: Statement) -> float | None:
    """Part (0 to 1) of the server's redo that a statement generates; null where that is not counted (version 13)."""
    total = case.total(WAL, statement.db)
    return min((statement.wal_bytes_per_s or 0.0) / total, 1.0) if total else None


def _per_s(case: Case, name: str) -> dict[tuple[str | None, str], float]:
    return {(figure.db, figure.entity or ""): figure.mean for figure in case.figures(name)}
