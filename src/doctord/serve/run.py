"""Run the server: where it listens, who is let in, and what it says of that."""

import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn

from doctord.errors import UserError
from doctord.serve.access import Access, Guests, is_loopback, own_names
from doctord.serve.lakes import Lakes
from doctord.serve.server import application

MOST_AT_ONCE: Final = 300


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen, and who may ask.

    Attributes:
        host: Address or name; whoever reaches one beyond this host must be let in.
        port: Its port; 0 lets the system choose.
        needs_token: Whether one must be let in on the loopback, too.
        names: Further names that the server is called by, by a proxy say.
    """

    host: str = "127.0.0.1"
    port: int = 7878
    needs_token: bool = False
    names: Sequence[str] = ()


def serve(lakes: Sequence[Path], place: Place, listening: Callable[[str], None]) -> None:
    """Serve lakes until SIGINT or SIGTERM; `listening` is told the address to open, once it can be opened.

    Raises:
        UserError: the address cannot be had.
    """
    guests = Guests() if place.needs_token or not is_loopback(place.host) else None
    guarded = Access(application(Lakes(lakes)), guests, {*own_names(), place.host, *place.names})
    config = uvicorn.Config(
        guarded,
        access_log=False,  # addresses hold filters: names that strangers chose
        log_level="warning",
        server_header=False,
        limit_concurrency=MOST_AT_ONCE,
        h11_max_incomplete_event_size=32 << 10,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    with _listening(place) as own:
        host = f"[{place.host}]" if ":" in place.host else place.host
        port = own.getsockname()[1]
        invitation = f"?token={guests.invitation}" if guests else ""
        _Server(config, lambda: listening(f"http://{host}:{port}/{invitation}")).run([own])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at a signal; uvicorn's own would raise it again afterwards, so that nothing else could be ended well."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

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
