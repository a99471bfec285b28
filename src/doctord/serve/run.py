"""Run the server: where it listens, who is let in, and what it says of that."""

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from doctord.app.alerts.settings import AlertSettings
from doctord.app.metrics_out.settings import MetricsOut
from doctord.errors import UserError
from doctord.serve.access import Access, Guests, own_names
from doctord.serve.alerting import Alerting
from doctord.serve.fleet_page import FleetAsked, FleetPage
from doctord.serve.lakes import Lakes
from doctord.serve.limits import is_loopback
from doctord.serve.server import application

MOST_AT_ONCE: Final = 300
SHORTEST_TOKEN: Final = 20
HOW_TO_MAKE_ONE: Final = "(umask 077; openssl rand -hex 32 > FILE) makes one"


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen, and who may ask.

    Attributes:
        host: Address or name; whoever reaches one beyond this host must be let in.
        port: Its port; 0 lets the system choose.
        needs_token: Whether one must be let in on the loopback, too.
        names: Further names that the server is called by, by a proxy say.
        shows_words: Whether assistants are shown the names and texts that strangers wrote.
        token_file: Holds the token of programs; they must be let in, then.
        certificate: A certificate and its key, in PEM; null: HTTP without TLS.
    """

    host: str = "127.0.0.1"
    port: int = 7878
    needs_token: bool = False
    names: Sequence[str] = ()
    shows_words: bool = False
    token_file: Path | None = None
    certificate: tuple[Path, Path] | None = None

    @property
    def is_in_clear(self) -> bool:
        """Whether others can read along on the way."""
        return self.certificate is None and not is_loopback(self.host)

    @property
    def guests(self) -> Guests | None:
        """Who has been let in; null where whoever reaches it may ask.

        Raises:
            UserError: the token of programs cannot be used.
        """
        if self.needs_token or self.token_file or not is_loopback(self.host):
            return Guests(program_token(self.token_file) if self.token_file else None)
        return None

    def address(self, port: int, guests: Guests | None) -> str:
        """What is to be opened in a browser."""
        return self._url(self.host, port) + (f"?token={guests.invitation}" if guests else "")

    def page(self, port: int) -> str:
        """Where others find the page: by a further name, or by the host's where it listens on all addresses."""
        own = socket.gethostname() if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104 - looked for, not bound
        return self._url(next(iter(self.names), own), port)

    def _url(self, host: str, port: int) -> str:
        name = f"[{host}]" if ":" in host else host
        return f"{'https' if self.certificate else 'http'}://{name}:{port}/"


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes on beside the page and the API.

    Attributes:
        alerts: Whom to tell of what is wrong in the lakes.
        metrics_out: Whom to send their metrics.
        fleet: The fleet of which there is a page.
    """

    alerts: AlertSettings | None = None
    metrics_out: MetricsOut | None = None
    fleet: FleetAsked | None = None


ALONE: Final = Beside()


def serve(lakes: Sequence[Path], place: Place, listening: Callable[[str], None], beside: Beside = ALONE) -> None:
    """Serve lakes until SIGINT or SIGTERM; `listening` is told the address to open, once it can be opened.

    Raises:
        UserError: the address cannot be had, or the token or the certificate cannot be used.
    """
    guests, names = place.guests, {*own_names(), place.host, *place.names}
    with _listening(place) as own:
        port = own.getsockname()[1]
        alerting = Alerting(beside.alerts, place.page(port)) if beside.alerts else None
        ending = threading.Event()
        inner = application(
            Lakes(lakes),
            shows_words=place.shows_words,
            alerting=alerting,
            metrics_out=beside.metrics_out,
            fleet=FleetPage(beside.fleet) if beside.fleet else None,
            is_ending=ending.is_set,
        )
        config = _config(Access(inner, guests, names, is_tls=place.certificate is not None), place)
        _Server(config, lambda: listening(place.address(port, guests)), ending).run([own])


def _config(guarded: ASGIApp, place: Place) -> uvicorn.Config:
    certificate, key = place.certificate or (None, None)
    config = uvicorn.Config(
        guarded,
        access_log=False,  # addresses hold filters: names that strangers chose
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # whoever connects could say that he is somebody else
        limit_concurrency=MOST_AT_ONCE,
        h11_max_incomplete_event_size=32 << 10,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        ws="none",
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    try:
        config.load()
    except OSError as error:
        raise UserError(f"{certificate}, {key}: {error}", "name a certificate and its key, in PEM") from error
    logging.getLogger("uvicorn.error").addFilter(_is_of_interest)
    return config


def _is_of_interest(record: logging.LogRecord) -> bool:
    """Whether a line of its log tells more than that an answer nobody waits for any more was given up at the end."""
    kind = record.exc_info[0] if record.exc_info else None
    return not (kind and issubclass(kind, asyncio.CancelledError))


def program_token(file: Path) -> str:
    """The token of programs that a file holds.

    Raises:
        UserError: it cannot be read, others may read it, or it could be guessed.
    """
    try:
        token, mode = file.read_text(encoding="ascii").strip(), file.stat().st_mode
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: {getattr(error, 'strerror', None) or 'it is not ASCII'}", HOW_TO_MAKE_ONE) from error
    if mode & 0o077:
        raise UserError(f"{file}: others may read it", f"chmod 600 {file}")
    if len(token) < SHORTEST_TOKEN:
        raise UserError(f"{file}: a token of fewer than {SHORTEST_TOKEN} characters could be guessed", HOW_TO_MAKE_ONE)
    return token


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None], ending: threading.Event) -> None:
        super().__init__(config)
        self._started, self._ending = started, ending

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at a signal; uvicorn's own would raise it again afterwards, so that nothing else could be ended well."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let those who listen for samples go: they would be waited for."""
        self._ending.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._started()


def _listening(place: Place) -> socket.socket:
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server(address[:2], family=family, backlog=1024)
    except OSError as error:
        where = f"{place.host}:{place.port}"
        raise UserError(f"{where}: {error.strerror or error}", "choose another with --port or --host") from error
