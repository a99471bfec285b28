"""Who opens the connections: whose sessions are new ones at almost every look."""

from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, phrase

# Sessions that were seen once or twice: a few of one program, and twice as many as of any other.
LEAST: Final = 3
TWICE: Final = 2
SHORT_LOOKS: Final = 2
OURS: Final = ("doctord", "doctord-probe")
# What postgres_fdw calls itself, unless application_name is an option of the foreign server or its own setting.
FDW: Final = "postgres_fdw"
KEEP: Final = (
    "Those of a foreign server are kept for the session that asked it, unless its option keep_connections is off: "
    "SELECT srvname, srvoptions FROM pg_foreign_server on the server that asks; ALTER SERVER ... OPTIONS (SET "
    "keep_connections 'on')."
)


class Opener(NamedTuple):
    """A user and program most of whose sessions live for a moment: how many were seen, and of whom."""

    user: str | None
    program: str | None
    client: str | None
    sessions: int

    @property
    def who(self) -> Phrase:
        """By user and program."""
        return phrase("{}{}", self.user or "an unknown user", f" ({self.program})" if self.program else "")

    @property
    def is_foreign_server(self) -> bool:
        """Whether they are another server's, which asks a foreign table."""
        return self.program == FDW

    @property
    def evidence(self) -> Evidence:
        """How many of them were seen at one or two looks."""
        named = f"program = '{self.program}'" if self.program else "program is null"
        where = phrase("from {}", self.client) if self.client else ""
        return Evidence("session", named, phrase("{} sessions of {} that lived for a moment", self.sessions, self.who),
                        phrase("{}", LEAST), where, "at_least")  # fmt: skip


def opener(case: Case, db: str | None) -> Opener | None:
    """Who opens most connections to a server, by sessions seen at one or two looks whose process no sample met.

    Null where too few were seen, or several programs do alike.
    """
    of_processes = pl.col("pid").is_in(case.processes["pid"].implode()).fill_null(value=False)
    own = case.dataset.frame("session").filter(
        (pl.col("db") == db)
        & (pl.col("kind") == CLIENT)
        & ~pl.col("program").is_in(OURS).fill_null(value=False)
        & ~of_processes
    )
    short = (
        own.group_by("user", "program", "sid", maintain_order=True)
        .agg(pl.len().alias("looks"), pl.col("client").last())
        .filter(pl.col("looks") <= SHORT_LOOKS)
    )
    groups = short.group_by("user", "program", maintain_order=True).agg(
        pl.col("client").last(), pl.len().alias("sessions")
    )
    found = [Opener(*row) for row in groups.sort("sessions", descending=True, maintain_order=True).iter_rows()]
    others = max((one.sessions for one in found[1:]), default=0)
    return found[0] if found and found[0].sessions >= max(LEAST, TWICE * others) else None
