"""SQLSTATEs of PostgreSQL's messages, where log_line_prefix has no %e: by words of the English message.

PostgreSQL documentation, appendix A, "PostgreSQL Error Codes", and the messages of the server's source. In other
languages a message without its SQLSTATE is of no class, but for those that the reader knows and tells in English
(native/src/server_log/messages/known.rs).
"""

from typing import Final

# The first whose words are in the message counts.
BY_WORDS: Final = (
    ("could not serialize access", "40001"),
    ("canceling statement due to conflict with recovery", "40001"),
    ("deadlock detected", "40P01"),
    ("canceling statement due to lock timeout", "55P03"),
    ("could not obtain lock on", "55P03"),
    ("canceling statement due to", "57014"),
    ("due to idle-in-transaction timeout", "25P03"),
    ("due to transaction timeout", "25P04"),
    ("due to idle-session timeout", "57P05"),
    ("too many notifications in the notify queue", "54000"),
    ("no space left on device", "53100"),
    ("disk quota exceeded", "53100"),
    ("exceeds temp_file_limit", "53400"),
    ("snapshot too old", "72000"),
    ("too many open files", "53000"),
    ("file too large", "XX000"),
    ("insufficient file descriptors", "53000"),
    ("out of memory", "53200"),
    ("out of shared memory", "53200"),
    ("cannot allocate memory", "53200"),
    ("has already been removed", "58P01"),
    ("too many clients already", "53300"),
    ("connection slots are reserved", "53300"),
    ("too many connections for", "53300"),
    ("duplicate key value violates", "23505"),
    ("violates foreign key constraint", "23503"),
    ("violates not-null constraint", "23502"),
    ("violates check constraint", "23514"),
    ("violates exclusion constraint", "23P01"),
    ("no partition of relation", "23514"),
    ("cached plan must not change result type", "0A000"),
    ("current transaction is aborted", "25P02"),
    ("in a read-only transaction", "25006"),
    ("does not have a replica identity and publishes", "55000"),
    ("nextval: reached", "2200H"),
    ("out of range", "22003"),
    ("invalid input syntax", "22P02"),
    ("value too long for type", "22001"),
    ("division by zero", "22012"),
    ("syntax error at", "42601"),
    ("permission denied for", "42501"),
    ("invalid page in block", "XX001"),
    ("cache lookup failed", "XX000"),
    ("(raised by a function)", "P0001"),
)
# What is named in quotes before these words is not there; other messages of class 42 begin alike.
MISSING: Final = {"relation": "42P01", "column": "42703", "function": "42883", "operator": "42883", "type": "42704"}


def of_message(message: str) -> str | None:
    """The SQLSTATE that a message of the server has; null where its words are not known.

    >>> of_message("could not extend file: No space left on device"), of_message('relation "a" does not exist')
    ('53100', '42P01')
    """
    lower = message.lower()
    found = next((state for words, state in BY_WORDS if words in lower), None)
    if found is None and "does not exist" in lower:
        found = MISSING.get(lower.split()[0])
    return found
