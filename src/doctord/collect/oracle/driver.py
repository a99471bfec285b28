"""Connections to Oracle through python-oracledb, with a limit on everything that could take long.

The thin mode of the driver needs no Oracle software and talks to 12.1 and later. With DOCTORD_ORACLE_CLIENT set to the
folder of Oracle's client libraries the thick mode is used: for 11g, and for external authentication by a wallet.
"""

import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from doctord.collect.core.link import Trouble
from doctord.collect.core.secret import password, user_and_place
from doctord.errors import UserError

if TYPE_CHECKING:
    import oracledb

_CONNECT_S: Final = 5.0
_ANSWER_MS: Final = 3000

PASSWORD: Final = "DOCTORD_ORACLE_PASSWORD"  # noqa: S105 - the variable's name
WALLET_PASSWORD: Final = "DOCTORD_ORACLE_WALLET_PASSWORD"  # noqa: S105 - likewise
CLIENT: Final = "DOCTORD_ORACLE_CLIENT"

GRANTS: Final = (
    "as SYS: GRANT SELECT ON gv_$event_histogram_micro TO doctord; GRANT SELECT ON gv_$event_histogram TO doctord; "
    "GRANT SELECT ON gv_$system_event TO doctord; GRANT SELECT ON v_$event_name TO doctord"
)
_LOGIN: Final = f"put the password into {PASSWORD}, or CREATE USER doctord and GRANT CREATE SESSION TO doctord"
_WHERE: Final = "check host, port and service: oracle://USER@HOST:1521/SERVICE; lsnrctl status lists the services"
_UNAVAILABLE: Final = "the instance is starting or stopping: it is asked again"
_MEANINGS: Final = {
    "ORA-00942": ("no right to read its views (ORA-00942)", GRANTS),
    "ORA-01017": ("user or password is wrong (ORA-01017)", _LOGIN),
    "ORA-01031": ("no right to read its views (ORA-01031)", GRANTS),
    "ORA-01033": ("the instance is not open (ORA-01033)", _UNAVAILABLE),
    "ORA-01034": ("the instance is not running (ORA-01034)", _UNAVAILABLE),
    "ORA-01045": ("the user may not log in (ORA-01045)", "GRANT CREATE SESSION TO doctord"),
    "ORA-12850": (
        "an instance gave no parallel server (ORA-12850)",
        "choose an instance, or raise parallel_max_servers",
    ),
    "ORA-28000": ("the account is locked (ORA-28000)", "ALTER USER doctord ACCOUNT UNLOCK"),
    "ORA-28001": ("the password has expired (ORA-28001)", "set a new one: ALTER USER doctord IDENTIFIED BY ..."),
    "ORA-41900": ("no right to read its views (ORA-41900)", GRANTS),
    "DPY-3001": (
        "it needs the driver's thick mode (DPY-3001)",
        f"name a user, or set {CLIENT} to Oracle's client libraries",
    ),
    "DPY-3010": (
        "too old a version for the driver's thin mode (DPY-3010)",
        f"set {CLIENT} to Oracle's client libraries",
    ),
    "DPY-4000": ("no such name in tnsnames.ora (DPY-4000)", "set TNS_ADMIN to its folder, or give HOST:PORT/SERVICE"),
    "DPY-4001": ("no password (DPY-4001)", _LOGIN),
    "DPY-4011": ("the server closed it (DPY-4011)", None),
    "DPY-4024": (f"no answer for {_ANSWER_MS / 1000:g} s (DPY-4024)", "is the server overloaded, or a latch held?"),
    "DPY-4027": ("there is no tnsnames.ora (DPY-4027)", "set TNS_ADMIN to its folder, or give HOST:PORT/SERVICE"),
    "DPY-6001": ("the listener knows no such service (DPY-6001)", _WHERE),
    "DPY-6003": ("the listener knows no such SID (DPY-6003)", _WHERE),
    "DPY-6005": ("nobody answers there (DPY-6005)", _WHERE),
    "DPI-1047": ("Oracle's client libraries cannot be loaded (DPI-1047)", f"{CLIENT} names the folder of libclntsh.so"),
}


def _driver() -> Any:  # noqa: ANN401 - the module
    try:
        import oracledb  # noqa: PLC0415 - an extra, loaded when there is a server to ask
    except ImportError:
        raise UserError("python-oracledb is not installed", "pip install 'doctord[oracle]'") from None
    return oracledb


@dataclass(slots=True)
class OracleDriver:
    """How to connect to one database. `place` is an Easy Connect string, a TNS alias or a connect descriptor."""

    place: str = field(repr=False)
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    db: str = field(init=False)
    errors: tuple[type[Exception], ...] = field(init=False, repr=False)
    _late: "Future[oracledb.Connection] | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Name the database after its service.

        Raises:
            UserError: The driver is not installed.
        """
        self.db = f"oracle:{_service(self.place)}"
        self.errors = (_driver().Error, OSError)

    @classmethod
    def from_address(cls, address: str, *, ask: bool = False) -> "OracleDriver":
        """A driver for `oracle://USER@HOST:PORT/SERVICE` or `oracle://USER@ALIAS`.

        The password comes from DOCTORD_ORACLE_PASSWORD, or is asked for on the terminal if `ask`. Without a user,
        the wallet of the client libraries (thick mode) logs in.

        Raises:
            UserError: It is no such address, or holds a password; or the driver is not installed.
        """
        user, place = user_and_place(address, "oracle", PASSWORD)
        return cls(place, user, password(PASSWORD, user, ask=ask) if user else None)

    def connect(self) -> "oracledb.Connection":
        """A connection that gives up a call after three seconds, and shows itself as `doctord` in v$session.

        Raises:
            oracledb.Error: The server refuses.
            OSError: It cannot be reached, or does not answer in time.
        """
        # The driver limits the time of a TCP connection, not that of the login after it: a thread waits in our place.
        self._late = self._late or _in_background(self._log_in, self.errors)
        try:
            connection = self._late.result(_CONNECT_S)
        finally:
            if self._late.done():
                self._late = None
        connection.call_timeout = _ANSWER_MS
        connection.module = "doctord"
        return connection

    def trouble(self, error: Exception) -> Trouble:
        """What an error means, without a word of the driver's own text: it may hold address and user.

        The driver gives errors that end a session a code of its own (DPY-4011), whatever ORA- number they had.
        """
        if isinstance(error, TimeoutError):
            return Trouble(f"no answer for {_CONNECT_S:g} s", "is the host reachable, the listener alive?", silent=True)
        code = getattr(error.args[0], "full_code", "") if error.args else ""
        if not code:
            return Trouble(f"it cannot be reached ({type(error).__name__})", _WHERE)
        text, hint = _MEANINGS.get(code, (f"the driver reports {code}", "Oracle's Database Error Messages tell more"))
        return Trouble(text, hint, lost=not code.startswith("ORA-"), silent=code == "DPY-4024")

    def _log_in(self) -> "oracledb.Connection":
        driver = _driver()
        if (client := os.environ.get(CLIENT)) is not None:
            driver.init_oracle_client(lib_dir=client or None)
        else:
            driver.enable_thin_mode()  # before: a login that hangs would keep all others waiting for the mode
        connection: oracledb.Connection = driver.connect(
            dsn=self.place,
            user=self.user,
            password=self.password,
            externalauth=self.user is None and client is not None,
            wallet_password=os.environ.get(WALLET_PASSWORD),
            tcp_connect_timeout=_CONNECT_S,
            expire_time=1,  # minutes; a peer that vanished is noticed by the kernel
        )
        return connection


def _service(place: str) -> str:
    """The service, SID or alias that a connect string names, for the dataset."""
    if described := re.search(r"(?:SERVICE_NAME|SID)\s*=\s*([^)\s]+)", place, re.IGNORECASE):
        return described.group(1)
    host, _, rest = re.sub(r"^(\w+:)?//", "", place.partition("?")[0]).partition("/")
    return (rest or host).partition("/")[0].partition(":")[0]


def _in_background(
    log_in: "Callable[[], oracledb.Connection]", errors: tuple[type[Exception], ...]
) -> "Future[oracledb.Connection]":
    """A login in a thread of its own: who waits for it may give up, and come back for it later."""
    future: Future[oracledb.Connection] = Future()

    def run() -> None:
        try:
            future.set_result(log_in())
        except errors as error:
            future.set_exception(error)
        finally:
            future.cancel()  # a fault of ours: the one who waits must learn of it; no effect on what is done

    threading.Thread(target=run, name="oracle login", daemon=True).start()
    return future
