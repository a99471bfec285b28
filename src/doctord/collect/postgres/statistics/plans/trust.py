"""What a statement reaches whose planning would run somebody else's code under our rights.

The planner calls immutable and stable functions to know their values, and a superuser's session stays one: what such a
function does, RESET ROLE first, it does with all rights. So nothing is planned that may reach a function which is not
written in C (only a superuser can make one of those) and does not come with the server: by its name, or by a relation
or a type that it is part of (views, policies, indexes, constraints, rules, defaults, domains). Nor is a foreign table
whose wrapper asks the other server when it plans. Source: PostgreSQL documentation, "Function Volatility Categories",
pg_depend, CREATE FUNCTION (LANGUAGE), postgres_fdw (use_remote_estimate).
"""

import re
from typing import Final

from doctord.regex import regex

# From what the text may name, by what depends on what and what is part of what, to a function of somebody. Triggers,
# foreign keys and, of who does not write, defaults take no part in planning. Names that are no plain words are taken
# for named. Of operators, casts and operator classes a text shows no name: one that is made of such a function is
# enough. 16384 is the first number of what does not come with the server (FirstNormalObjectId).
MAY_CALL: Final = """\
WITH RECURSIVE of_somebody AS MATERIALIZED (
    SELECT f.oid FROM pg_proc AS f JOIN pg_language AS l ON l.oid = f.prolang
    WHERE f.oid >= 16384 AND l.lanname NOT IN ('c', 'internal')
), used (class, object) AS (
    SELECT class, object FROM (
        SELECT 'pg_class'::regclass::oid AS class, oid AS object, relname AS name FROM pg_class
        UNION ALL SELECT 'pg_proc'::regclass, oid, proname FROM pg_proc
        UNION ALL SELECT 'pg_type'::regclass, oid, typname FROM pg_type
    ) AS named
    WHERE object >= 16384 AND (lower(name) = ANY (%(words)s) OR name !~ '^[[:alnum:]_$]+$')
    UNION
    SELECT next.class, next.object FROM used, LATERAL (
        SELECT refclassid AS class, refobjid AS object FROM pg_depend
        WHERE classid = used.class AND objid = used.object AND refobjid >= 16384 AND deptype <> 'e'
        UNION ALL
        SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite
        WHERE used.class = 'pg_class'::regclass AND ev_class = used.object
        UNION ALL
        SELECT 'pg_attrdef'::regclass, pg_attrdef.oid
        FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE used.class = 'pg_class'::regclass AND adrelid = used.object AND (%(is_writing)s OR attgenerated <> '')
        UNION ALL
        SELECT 'pg_policy'::regclass, oid FROM pg_policy
        WHERE used.class = 'pg_class'::regclass AND polrelid = used.object
        UNION ALL
        SELECT 'pg_constraint'::regclass, oid FROM pg_constraint
        WHERE used.class = 'pg_class'::regclass AND conrelid = used.object AND contype = 'c'
        UNION ALL
        SELECT 'pg_constraint'::regclass, oid FROM pg_constraint
        WHERE used.class = 'pg_type'::regclass AND contypid = used.object
        UNION ALL
        SELECT 'pg_class'::regclass, indexrelid FROM pg_index
        WHERE used.class = 'pg_class'::regclass AND indrelid = used.object
        UNION ALL
        SELECT 'pg_class'::regclass, inhrelid FROM pg_inherits
        WHERE used.class = 'pg_class'::regclass AND inhparent = used.object
    ) AS next
)
SELECT /* doctord */
    EXISTS (SELECT FROM used JOIN of_somebody ON oid = object WHERE class = 'pg_proc'::regclass)
    OR EXISTS (
        SELECT FROM used JOIN pg_foreign_table ON ftrelid = object JOIN pg_foreign_server AS s ON s.oid = ftserver
             JOIN pg_foreign_data_wrapper AS w ON w.oid = srvfdw
        WHERE class = 'pg_class'::regclass
              AND (fdwname NOT IN ('postgres_fdw', 'file_fdw')
                   OR 'use_remote_estimate=true' = ANY (coalesce(srvoptions, '{}') || coalesce(ftoptions, '{}')))
    )
    OR EXISTS (SELECT FROM pg_operator AS o JOIN of_somebody AS f ON f.oid IN (oprcode, oprrest, oprjoin)
               WHERE o.oid >= 16384)
    OR EXISTS (SELECT FROM pg_cast JOIN of_somebody AS f ON f.oid = castfunc)
    OR EXISTS (SELECT FROM pg_amproc JOIN of_somebody AS f ON f.oid = amproc) AS may_call
"""
WRITES: Final = frozenset({"insert", "update", "merge"})
# A name may be written so that its letters are not seen, and some functions of the server read whatever they are told.
_DISGUISED: Final = regex(r"\bu&\s*[\"']|_to_xml", re.IGNORECASE)
_WORDS: Final = regex(r"[\w$]+")


def words(text: str) -> frozenset[str]:
    """The words of a text, in small letters.

    >>> sorted(words('SELECT a FROM "My table" WHERE b = $1'))
    ['$1', 'a', 'b', 'from', 'my', 'select', 'table', 'where']
    """
    return frozenset(_WORDS.findall(text.lower()))


def is_disguised(text: str) -> bool:
    """Whether what a text names cannot be told from its words.

    >>> is_disguised('SELECT U&"trap"(1)'), is_disguised("SELECT trap(1)")
    (True, False)
    """
    return _DISGUISED.search(text) is not None
