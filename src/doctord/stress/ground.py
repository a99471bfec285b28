"""The ground of a load test: a database of its own on the server, which is dropped at the end, or at the next start.

A server with other people's sessions is not touched unless somebody says that it may be.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from doctord.errors import UserError
from doctord.stress.kits import Kit

DATABASE: Final = "doctord_stress"
PROGRAM: Final = "doctord stress"
LEAST_FREE: Final = 0.1  # of a file system, with the data of the test on it
_OTHERS: Final = """
SELECT count(*), string_agg(DISTINCT coalesce(nullif(application_name, ''), usename, '?'), ', ')
FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name NOT LIKE 'doctord%%'
      AND datname IS DISTINCT FROM %s
"""
_READ: Final = """
SELECT blks_read, current_setting('block_size')::integer FROM pg_stat_database WHERE datname = current_database()
"""


class Ground:
    """A database for the load, on a server that may be loaded."""

    def __init__(self, dsn: str) -> None:
        """Connect.

        Raises:
            UserError: the server does not answer, or the string is none.
        """
        self._server = dsn
        try:
            self._admin = psycopg.connect(dsn, application_name=PROGRAM, autocommit=True)
        except psycopg.Error as error:
            hint = "name it as libpq does: --dsn 'host=... port=... user=... dbname=postgres'"
            raise UserError(f"the server cannot be asked: {str(error).strip()}", hint) from error
        self.version = str(self._one("SHOW server_version"))

    @property
    def dsn(self) -> str:
        """How to reach the database of the test."""
        return make_conninfo(self._server, dbname=DATABASE)

    def check(self, *, may_disturb: bool) -> None:
        """Refuse a server that is not free for a load test.

        Raises:
            UserError: others work there, it is a standby, or the role may not make databases.
        """
        if self._one("SELECT pg_is_in_recovery()"):
            raise UserError("the server is a standby: it takes no load of its own", "name the primary")
        if not self._one("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"):
            hint = "ALTER ROLE ... CREATEDB, or another user in --dsn"
            raise UserError("the role may not make a database for the load", hint)
        if self._one(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{DATABASE}'"):  # noqa: S608 - our own name
            raise UserError("another load test is at work on the server", f"wait for it; its database is {DATABASE}")
        count, who = self._admin.execute(_OTHERS, [DATABASE]).fetchone() or (0, "")
        if count and not may_disturb:
            raise UserError(
                f"{count} sessions of others are on the server: {who}",
                "a load test takes all that there is: --yes-this-server if that is meant",
            )

    @contextmanager
    def laid(self, kit: Kit, build: Callable[[str, int], None]) -> Iterator[None]:
        """The kit's tables while the context lasts; what an earlier run left behind goes first.

        `build` makes pgbench's own tables in a database, of a scale.

        Raises:
            UserError: there is no room, or a statement fails.
        """
        self._drop()
        try:
            self._run(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
            if kit.scale is not None:
                build(self.dsn, kit.scale)
            with psycopg.connect(self.dsn, application_name=PROGRAM, autocommit=True) as session:
                for statement in kit.tables:
                    session.execute(statement.encode())
                if self._one("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"):
                    session.execute("CHECKPOINT")  # what was made is not written while steps are timed
            yield
        except psycopg.Error as error:
            raise UserError(f"the server did not do it: {str(error).strip()}", "see its log") from error
        finally:
            with suppress(psycopg.Error):  # a server that died: the next start drops it
                self._drop()

    def read_so_far(self) -> tuple[int, int, int | None] | None:
        """Blocks that the database asked the system for, the size of one, and bytes that its device gave, so far.

        Null where the server does not answer.
        """
        try:
            with psycopg.connect(self.dsn, application_name=PROGRAM, autocommit=True) as session:
                blocks, size = session.execute(_READ).fetchone() or (0, 8192)
            return blocks, size, _read_bytes(self.folder())
        except psycopg.Error:
            return None

    def folder(self) -> Path | None:
        """Its data directory, where it is on this host and may be known."""
        where = conninfo_to_dict(self._server).get("host") or ""
        if not (str(where).startswith("/") or where in ("", "localhost", "127.0.0.1", "::1")):
            return None
        try:
            folder = Path(str(self._one("SELECT current_setting('data_directory', true)") or ""))
        except psycopg.Error:
            return None
        return folder if folder.is_dir() else None

    def has_room(self) -> bool:
        """Whether the file system of its data has a tenth of its room left; so it is where that is not known."""
        folder = self.folder()
        if folder is None:
            return True
        room = os.statvfs(folder)
        return room.f_bavail >= LEAST_FREE * room.f_blocks

    def close(self) -> None:
        """Leave the server."""
        self._admin.close()

    def _drop(self) -> None:
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(DATABASE)))

    def _run(self, statement: sql.Composed) -> None:
        self._admin.execute(statement)

    def _one(self, query: str) -> Any:  # noqa: ANN401 - whatever it is
        return (self._admin.execute(query.encode()).fetchone() or (None,))[0]


def _read_bytes(folder: Path | None) -> int | None:
    """Bytes that the device of a folder has given since the start of the host; null where it is none of blocks."""
    if folder is None:
        return None
    device = folder.stat().st_dev
    try:
        told = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat").read_text(encoding="ascii")
    except OSError:
        return None
    return int(told.split()[2]) * 512
