"""What a statement reaches whose planning would run somebody else's code under our rights.

The planner calls immutable and stable functions to know their values, and a superuser's session stays one: what such a
function does, RESET ROLE first, it does with all rights. So nothing is planned that may reach a function which is not
written in C (only a superuser can make one of those) and does not come with the server: by its name, or by a relation
or a type that it is part of (views, policies, indexes, constraints, rules, defaults, domains). Nor is a foreign table
whose wrapper asks the other server when it plans. Source: PostgreSQL documentation, "Function Volatility Categories",
pg_depend, CREATE FUNCTION (LANGUAGE), postgres_fdw (use_remote_estimate).
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from doctord.regex import regex

# What depends on such a function, and what that is part of. Triggers, foreign keys and, of who does not write, defaults
# take no part in planning. 16384 is the first number that does not come with the server (FirstNormalObjectId).
REACHED: Final = """\
WITH RECURSIVE reached (class, object) AS (
    SELECT * FROM (
        SELECT 'pg_proc'::regclass::oid AS class, f.oid AS object
        FROM pg_proc AS f JOIN pg_language AS l ON l.oid = f.prolang
        WHERE f.oid >= 16384 AND l.lanname NOT IN ('c', 'internal')
        UNION ALL
        SELECT 'pg_class'::regclass, ftrelid
        FROM pg_foreign_table JOIN pg_foreign_server AS s ON s.oid = ftserver
             JOIN pg_foreign_data_wrapper AS w ON w.oid = srvfdw
        WHERE fdwname NOT IN ('postgres_fdw', 'file_fdw')
              OR 'use_remote_estimate=true' = ANY (coalesce(srvoptions, '{}') || coalesce(ftoptions, '{}'))
    ) AS of_others
    UNION
    SELECT found.class, found.object FROM reached, LATERAL (
        SELECT classid AS class, objid AS object FROM pg_depend
        WHERE refclassid = reached.class AND refobjid = reached.object AND classid <> 'pg_trigger'::regclass
        UNION ALL
        SELECT 'pg_class'::regclass, ev_class FROM pg_rewrite
        WHERE reached.class = 'pg_rewrite'::regclass AND oid = reached.object
        UNION ALL
        SELECT 'pg_class'::regclass, adrelid FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE reached.class = 'pg_attrdef'::regclass AND pg_attrdef.oid = reached.object
              AND (%(is_writing)s OR attgenerated <> '')
        UNION ALL
        SELECT 'pg_class'::regclass, polrelid FROM pg_policy
        WHERE reached.class = 'pg_policy'::regclass AND oid = reached.object
        UNION ALL
        SELECT CASE WHEN contypid = 0 THEN 'pg_class'::regclass ELSE 'pg_type'::regclass END,
               CASE WHEN contypid = 0 THEN conrelid ELSE contypid END
        FROM pg_constraint
        WHERE reached.class = 'pg_constraint'::regclass AND oid = reached.object AND contype = 'c'
        UNION ALL
        SELECT 'pg_class'::regclass, indrelid FROM pg_index
        WHERE reached.class = 'pg_class'::regclass AND indexrelid = reached.object
        UNION ALL
        SELECT 'pg_class'::regclass, inhparent FROM pg_inherits
        WHERE reached.class = 'pg_class'::regclass AND inhrelid = reached.object
    ) AS found
)
SELECT /* doctord */ DISTINCT coalesce(relname, proname, typname) AS name,
       class IN ('pg_operator'::regclass, 'pg_cast'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass,
                 'pg_amop'::regclass, 'pg_amproc'::regclass) AS is_unnamed
FROM reached LEFT JOIN pg_class AS c ON class = 'pg_class'::regclass AND c.oid = object
     LEFT JOIN pg_proc AS f ON class = 'pg_proc'::regclass AND f.oid = object
     LEFT JOIN pg_type AS t ON class = 'pg_type'::regclass AND t.oid = object
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


def may_call(text: str, reached: Iterable[dict[str, Any]]) -> bool:
    """Whether planning a statement may run code of others.

    Args:
        text: the statement.
        reached: rows of REACHED in its database: `name`, and `is_unnamed` of what no text has to name (an operator).

    >>> may_call("SELECT price(x) FROM t", [{"name": "price", "is_unnamed": False}])
    True
    >>> may_call("SELECT prices FROM t", [{"name": "price", "is_unnamed": False}])
    False
    """
    own = words(text)
    return _DISGUISED.search(text) is not None or any(
        row["is_unnamed"] or (row["name"] is not None and words(row["name"]) <= own) for row in reached
    )
