"""What errors of statements most often mean, by the beginning of the server's own words, or by their SQLSTATE."""

from typing import Final

# The first that fits counts. PostgreSQL documentation, "PostgreSQL Error Codes", and the server's sources.
MEANINGS: Final = (
    (
        "structure of query does not match function result type",
        "The query of a function gives other columns than it declares (RETURNS TABLE): a column was added to a table "
        "that it reads by SELECT *, or changed its type. Name the columns in the function, or declare the new one.",
    ),
    (
        "cached plan must not change result type",
        "A table was changed below a prepared statement, mostly a driver's with SELECT *: have the pool open its "
        "connections anew (or DEALLOCATE ALL, where the driver prepares anew), and name the columns.",
    ),
    (
        "null value in column",
        "A column is NOT NULL, and who writes gives it no value: a release of the schema before that of the "
        "application. Give it a default.",
    ),
    (
        "more than one row returned by a subquery",
        "A subquery that stands for one value finds several rows: a table holds rows twice that were to be there once, "
        "mostly since an import, and no unique constraint forbids it. Look for them (GROUP BY ... HAVING count(*) > "
        "1), remove them, and add the constraint.",
    ),
    (
        "column ",
        "The application asks for a column that is not there: its release does not fit that of the schema, or "
        "search_path finds another table of that name.",
    ),
    (
        "relation ",
        "A table or view is not there: not created yet, dropped, renamed, or in a schema that search_path does not "
        "have for this role.",
    ),
    (
        "function ",
        "No function of that name takes these types: not created, of an extension that is missing, in a schema that "
        "search_path does not have, or an argument is of another type than before.",
    ),
    (
        "operator ",
        "No operator, or several, take these types: a column or a parameter changed its type, or a cast was created "
        "or dropped. Cast one side explicitly.",
    ),
    (
        "permission denied",
        "A right is missing: a new table or function without GRANT to this role (ALTER DEFAULT PRIVILEGES), an owner "
        "that changed, or another one of that name in a schema that comes first in search_path (one with the role's "
        "own name, by $user).",
    ),
    (
        "there is no unique or exclusion constraint matching",
        "No unique index has exactly the columns of ON CONFLICT: it was dropped, has other columns, is not valid, or "
        "is partial, and then the statement has to repeat its condition: ON CONFLICT (...) WHERE ...",
    ),
    (
        "no partition of relation",
        "No partition takes these values: the next one was not created in time, or one was detached or dropped that is "
        "still written to. Compare the bounds of those that there are (\\d+ of the table), create or attach it, and "
        "think of a DEFAULT partition.",
    ),
    (
        "stack depth limit exceeded",
        "Something calls itself without an end: a function, or triggers that change each other's tables; CONTEXT in "
        "the log tells each of them in turn. To raise max_stack_depth only has it fail later.",
    ),
    (
        "value too long for type",
        "A text is longer than its column: compare the type's length with what the application sends.",
    ),
    (
        "invalid input syntax for type",
        "A text is none of that type: an empty one for a number, a date in another order (DateStyle).",
    ),
    (
        "bind message supplies",
        "A statement was prepared for another number of parameters: a pool in transaction mode that gives one client's "
        "prepared statement to another, or a driver's fault.",
    ),
    (
        "prepared statement",
        "A prepared statement is not there, or there already: a pool in transaction mode, in which each transaction "
        "may get another session. Let the driver prepare none, or the pool keep track of them "
        "(max_prepared_statements of PgBouncer).",
    ),
)  # fmt: skip

# Of these the words mean that only where they end so: others say that it is there already, or of another type.
OF_MISSING: Final = ("column ", "relation ", "function ")
NOT_THERE: Final = ("does not exist",)
# The same by the SQLSTATE, of those that say one thing only: words are of the language that lc_messages names.
BY_STATE: Final = {
    "22001": "value too long for type",
    "22P02": "invalid input syntax for type",
    "23502": "null value in column",
    "26000": "prepared statement",
    "42703": "column ",
    "42P01": "relation ",
    "42P05": "prepared statement",
}
# In all languages, where a statement names a table that it does not list: that is no SQL, and the table may be there.
NOT_LISTED: Final = "FROM"


def meaning(message: str, state: str | None = None) -> str:
    """What a message most often means, and what to do; empty where nothing is known.

    >>> meaning('relation "prices" does not exist')[:26]
    'A table or view is not the'
    >>> meaning('relation "prices" already exists', "42P07")
    ''
    >>> meaning("la relazione ? non esiste", "42P01")[:26]
    'A table or view is not the'
    >>> meaning("missing FROM-clause entry for table ?", "42P01")
    ''
    """
    is_missing = message.endswith(NOT_THERE)
    told = (told for begin, told in MEANINGS if message.startswith(begin) and (is_missing or begin not in OF_MISSING))
    by_state = "" if NOT_LISTED in message else BY_STATE.get(state or "", "")
    return next(told, dict(MEANINGS).get(by_state, ""))
