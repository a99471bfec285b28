"""A connection to a database server, kept up: it comes back after an outage, and says what was wrong.

A kind of server adds a `Driver`: how to connect, and what its errors mean. What a driver's library says of an error may
hold a secret: it is never passed on, but what the driver's `trouble` makes of it.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from doctord.collect.core.notices import Notices
from doctord.errors import UserError

T = TypeVar("T")

_RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
_ROWS_AT_ONCE: Final = 1000  # Oracle's driver fetches a hundred, each hundred a round trip


class Away(Exception):  # noqa: N818 - a state, not a fault: the server is not there now
    """The server cannot be asked now; why has been noted."""


class Trouble(NamedTuple):
    """An error in words that hold no secret, what to do about it, and whether the connection is lost by it.

    `silent`: the server was asked, and did not answer in time. `refused`: it lets no client in now, whoever that is: it
    is full, starts, recovers or stops. `gone`: nobody listens there, which is a wrong address where nobody ever did.
    """

    text: str
    hint: str | None = None
    lost: bool = True
    silent: bool = False
    refused: bool = False
    gone: bool = False


class Driver(Protocol):
    """What a kind of server adds to a link: its name in the dataset, how to connect, and what its errors mean."""

    db: str
    errors: tuple[type[Exception], ...]

    def connect(self) -> Any:  # noqa: ANN401 - of whichever library; for `Link.query` as the DB-API has it
        """A connection, with a limit on everything that could take long."""
        ...

    def trouble(self, error: Exception) -> Trouble:
        """What an error of the library means: see `Trouble`; no connection string may be in it."""
        ...


class Link:
    """A connection that is opened when needed and again after it broke."""

    def __init__(self, driver: Driver, notices: Notices) -> None:
        """Nothing is opened yet."""
        self.driver = driver
        self.notices = notices
        self.connection: Any = None
        self._failures = 0
        self._retry_at = 0.0
        self._lost_at: float | None = None
        self._asked_at = 0.0
        self._was_open = False
        self._unserved_at: float | None = None

    @property
    def db(self) -> str:
        """Name of the server in the dataset."""
        return self.driver.db

    def reach(self) -> None:
        """Connect, if there is no connection.

        Raises:
            UserError: There is none to be had; why, and what to do.
        """
        if self.connection is not None:
            return
        self._asked_at = time.monotonic()
        try:
            self.connection = self.driver.connect()
        except self.driver.errors as error:
            trouble = self.driver.trouble(error)
            self._note_unserved(trouble)
            raise UserError(trouble.text, trouble.hint or "") from None

    @contextlib.contextmanager
    def checking(self) -> Iterator[None]:
        """Connected for what is done within, where everything that stands in the way is refused by the server's name.

        Raises:
            UserError: There is no connection to be had, it broke, or what was done was refused.
        """
        try:
            self.reach()
            yield
        except Away:
            raise UserError(f"{self.db}: the connection broke", "is the server up, and not overloaded?") from None
        except UserError as refusal:
            raise UserError(f"{self.db}: {refusal}", refusal.hint) from None

    def open(self) -> bool:
        """Make sure that there is a connection; true when it is a new one.

        Raises:
            Away: There is none now; it is tried again after a while.
        """
        if self.connection is not None:
            return False
        if time.monotonic() < self._retry_at:
            raise Away
        try:
            self.reach()
            restart = self.restarted()
        except UserError as refusal:
            self.close()
            self._retry_at = time.monotonic() + _RETRY_S[min(self._failures, len(_RETRY_S) - 1)]
            self._failures += 1
            self.notices.not_measured(self.db, self.db, str(refusal), refusal.hint)
            raise Away from None
        self._came(restart)
        return True

    def restarted(self) -> tuple[str, str] | None:
        """What happened to the server since the last connection; null where nothing did, or nothing tells.

        The kind of event, `restart` or `crash` (its processes alone began anew), and what happened in words.
        """
        return None

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[Any]:
        """Rows of a statement, through the DB-API: as tuples.

        Raises:
            Away: There is no connection, or it broke.
            UserError: The server refused the statement; the connection is still good.
        """

        def rows(connection: Any) -> list[Any]:  # noqa: ANN401 - a DB-API connection
            with contextlib.closing(connection.cursor()) as cursor:
                cursor.arraysize = _ROWS_AT_ONCE
                cursor.execute(sql, list(parameters) or None)  # PyMySQL takes % for a place when there is a list
                return list(cursor.fetchall())

        return self.ask(rows)

    def ask(self, question: Callable[[Any], T]) -> T:
        """What a question, put to the connection, is answered.

        Raises:
            Away: There is no connection, or it broke.
            UserError: The server refused to answer; the connection is still good.
        """
        if self.connection is None:
            raise Away
        self._asked_at = time.monotonic()
        try:
            return question(self.connection)
        except self.driver.errors as error:
            trouble = self.driver.trouble(error)
            if trouble.lost:
                self._broke(trouble)
                raise Away from None
            raise UserError(trouble.text, trouble.hint or "") from None

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with contextlib.suppress(*self.driver.errors):  # it may be broken already
                connection.close()

    def _came(self, restart: tuple[str, str] | None) -> None:
        self._failures, self._unserved_at, self._was_open = 0, None, True
        if restart is not None:
            kind, text = restart
            self.notices.happened(kind, self.db, self.db, text)
        elif self._lost_at is not None:
            away_s = time.monotonic() - self._lost_at
            self.notices.happened("gap", self.db, self.db, f"the server answers again after {away_s:.0f} s")
        self._lost_at = None

    def _broke(self, trouble: Trouble) -> None:
        self._note_unserved(trouble)
        self.close()
        now = time.monotonic()
        self._lost_at, self._unserved_at = self._lost_at or now, self._unserved_at or now
        self._retry_at = now + _RETRY_S[0]
        self.notices.happened("gap", self.db, self.db, f"the connection broke: {trouble.text}")

    def _note_unserved(self, trouble: Trouble) -> None:
        """Tell the time without service since the request, or since it was last told: retries make one such time."""
        refused = trouble.refused or (trouble.gone and self._was_open)
        if not (trouble.silent or refused):
            self._unserved_at = None  # an answer to us alone
            return
        now = time.monotonic()
        seconds = now - (self._unserved_at or self._asked_at)
        self.notices.unserved("no answer" if trouble.silent else "refused", self.db, seconds, trouble.text)
        self._unserved_at = now
