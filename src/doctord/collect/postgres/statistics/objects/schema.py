"""The schema, whatever the load: invalid indexes, sequences near their end, versions of collations, dependencies."""

from typing import Final

from doctord._native import Batch
from doctord.collect.core.link import Away
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.databases import Databases
from doctord.collect.postgres.statistics.figures import Figures
from doctord.collect.postgres.statistics.objects.collations import Collations
from doctord.collect.postgres.statistics.objects.dependencies import Dependencies
from doctord.errors import UserError

# An index is not valid, too, as long as it is being built.
_INVALID: Final = """\
SELECT /* doctord */ current_database() || '.' || i.schema || '.' || i.relname || ' on ' || t.schema || '.' || t.relname
           AS entity, 1 AS "pg_index.is_invalid"
FROM pg_index AS x
     JOIN (SELECT c.oid, nspname AS schema, relname, relkind FROM pg_class AS c JOIN pg_namespace AS n
           ON n.oid = relnamespace) AS i ON i.oid = x.indexrelid AND i.relkind = 'i'
     JOIN (SELECT c.oid, nspname AS schema, relname, relpersistence FROM pg_class AS c JOIN pg_namespace AS n
           ON n.oid = relnamespace) AS t ON t.oid = x.indrelid AND t.relpersistence <> 't'
WHERE NOT x.indisvalid AND NOT EXISTS (
    SELECT FROM pg_stat_progress_create_index AS p WHERE p.relid = x.indrelid AND p.datname = current_database())
ORDER BY entity LIMIT 20
"""
# A sequence ends where its column does: that of serial is a bigint's in a column of integers, if somebody made it so.
_SEQUENCES: Final = """\
SELECT /* doctord */ entity, count(*) FILTER (WHERE NOT allowed) OVER () AS denied,
       100.0 * last / CASE WHEN increment > 0 THEN least(high, column_high) ELSE greatest(low, -column_high) END
           AS "pg_sequences.used_pct"
FROM (
    SELECT current_database() || '.' || nspname || '.' || relname AS entity, allowed,
           seqincrement AS increment, seqmax AS high, seqmin AS low,
           CASE WHEN allowed THEN pg_sequence_last_value(seqrelid) END AS last,
           (SELECT CASE atttypid WHEN 'int2'::regtype THEN 32767 WHEN 'int4'::regtype THEN 2147483647 END
            FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
            WHERE classid = 'pg_class'::regclass AND objid = seqrelid AND refclassid = 'pg_class'::regclass
                  AND deptype IN ('a', 'i') LIMIT 1) AS column_high
    FROM pg_sequence JOIN pg_class AS c ON c.oid = seqrelid JOIN pg_namespace AS n ON n.oid = relnamespace,
         LATERAL (SELECT has_sequence_privilege(seqrelid, 'SELECT, USAGE') AS allowed) AS rights
    WHERE NOT seqcycle AND relpersistence = 'p'
) AS sequence
ORDER BY 3 DESC NULLS LAST LIMIT 5
"""
# A sequence whose column has larger values already: after a restore, or rows that brought numbers of their own.
# The last bound of the column's histogram is its largest value at the last ANALYZE: the distance alone is told.
_BEHIND: Final = """\
SELECT /* doctord */ current_database() || '.' || n.nspname || '.' || c.relname || ' of ' || key.relname AS entity,
       bound.high - coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart - s.seqincrement) AS "pg_sequences.behind"
FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = s.seqrelid
          AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
     JOIN pg_class AS t ON t.oid = d.refobjid JOIN pg_namespace AS tn ON tn.oid = t.relnamespace
     JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
     JOIN pg_stats AS x ON x.schemaname = tn.nspname AND x.tablename = t.relname AND x.attname = a.attname
          AND NOT x.inherited,
     LATERAL (SELECT k.relname FROM pg_index JOIN pg_class AS k ON k.oid = indexrelid
              WHERE indrelid = t.oid AND indisunique AND indnkeyatts = 1 AND indkey[0] = a.attnum AND indpred IS NULL
              ORDER BY indisprimary DESC, indexrelid LIMIT 1) AS key,
     LATERAL (SELECT CASE WHEN a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
                          THEN (x.histogram_bounds::text::bigint[])[array_upper(x.histogram_bounds, 1)] END AS high)
         AS bound
WHERE s.seqincrement > 0 AND NOT s.seqcycle AND has_sequence_privilege(s.seqrelid, 'SELECT, USAGE')
      AND bound.high > coalesce(pg_sequence_last_value(s.seqrelid), s.seqstart - s.seqincrement)
ORDER BY 2 DESC LIMIT 5
"""


class Schema:
    """Fills `statistic` with 1 for each index that is not valid, and with how far the five fullest sequences are.

    The entity is `database.schema.index on schema.table`, or `database.schema.sequence`, in the ten largest databases.
    Sequences that begin anew at their end are left out. `pg_sequences.behind` is how far the largest value of its
    column is ahead of a sequence, where it is; its entity ends in ` of ` and the column's unique index. Into `setting`
    goes what depends on what (`dependencies.py`), and which collations have another version than was recorded
    (`collations.py`).
    """

    name = "schema"

    def __init__(self) -> None:
        """Due at the start, then once an hour."""
        self.cadence = Cadence(every_s=3600)
        self._dependencies: dict[str, Dependencies] = {}
        self._changed: frozenset[str] = frozenset()

    def read(self, link: Link) -> list[Batch]:
        """The state of this moment; connections to other databases are closed again."""
        batches: list[Batch] = []
        collations = _collations(link)
        databases = Databases()
        try:
            for database in databases.links(link):
                batches += self._of_database(database, link)
                _look_into(collations, database, link)
        finally:
            databases.close()
        if collations is None:
            return batches
        before, self._changed = self._changed, collations.differing
        return batches + collations.batches(before)

    def close(self) -> None:
        """There is nothing of its own."""

    def _of_database(self, database: Link, link: Link) -> list[Batch]:
        figures = Figures(link.db)
        dependencies: list[Batch] = []
        try:
            for sql in (_INVALID, _BEHIND):
                for row in database.query(sql):
                    figures.gauges(row)
            for row in database.query(_SEQUENCES):
                figures.gauge("pg_sequences.used_pct", row["pg_sequences.used_pct"], "pct", row["entity"])
                if row["denied"]:
                    self._note_denied(database)
            dependencies = self._dependencies.setdefault(database.database, Dependencies()).read(database)
        except UserError as refusal:
            link.notices.not_measured(link.db, f"schema of {database.database}", str(refusal), refusal.hint)
        except Away:
            if database is link:
                raise
        return figures.batches() + dependencies

    def _note_denied(self, database: Link) -> None:
        hint = "GRANT SELECT ON ALL SEQUENCES IN SCHEMA ... TO the role that doctord connects as"
        why = "the role may not read some of them"
        database.notices.not_measured(database.db, f"how far sequences of {database.database} are", why, hint)


def _collations(link: Link) -> Collations | None:
    try:
        return Collations(link)
    except UserError as refusal:
        link.notices.not_measured(link.db, "versions of collations", str(refusal), refusal.hint)
    return None


def _look_into(collations: Collations | None, database: Link, link: Link) -> None:
    if collations is None:
        return
    try:
        collations.look_into(database)
    except UserError as refusal:
        link.notices.not_measured(link.db, f"versions of collations of {database.database}", str(refusal), refusal.hint)
    except Away:
        if database is link:
            raise
