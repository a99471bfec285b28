"""How much one client beyond this host may ask: so many requests at once, and so many a second after that.

On this host nothing is limited: who may run programs here can take its CPUs without us, and behind a proxy all are one.
"""

from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic
from typing import Final

from doctord.serve.problems import Problem

AT_ONCE: Final = 400.0
A_SECOND: Final = 40.0
MOST_CLIENTS: Final = 10_000
WRONG_TOKEN: Final = 40.0  # requests that a wrong token counts for: it is not to be guessed at


@dataclass(slots=True)
class _Client:
    left: float
    seen_s: float


def is_loopback(host: str) -> bool:
    """Whether only this host can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Limits:
    """What each client has left, by address; those that were not seen longest are forgotten first."""

    def __init__(self) -> None:
        """Nobody asked yet."""
        self._clients = OrderedDict[str, _Client]()

    def take(self, address: str, amount: float = 1.0) -> None:
        """Take from what a client has left.

        Raises:
            Problem: it has not so much left.
        """
        if is_loopback(address):
            return
        now = monotonic()
        client = self._clients.pop(address, None) or _Client(AT_ONCE, now)
        self._clients[address] = client
        if len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        client.left = min(AT_ONCE, client.left + (now - client.seen_s) * A_SECOND)
        client.seen_s = now
        if client.left < amount:
            raise Problem(429, "too many requests", f"ask {A_SECOND:.0f} times a second at most", {"Retry-After": "5"})
        client.left -= amount
