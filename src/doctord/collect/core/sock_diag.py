"""What the kernel tells everybody of the sockets of this network namespace by netlink's sock_diag (sock_diag(7)).

Of TCP: both ends of each connection, whether the other side was heard of, and what it leaves unanswered; of Unix
sockets which two belong together. No right is needed.
"""

import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal, NamedTuple, TypeAlias

# linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h, linux/inet_diag.h
_NETLINK_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE, _ERROR = 4, 20, 0x301, 3, 2
_ALL_STATES, _SHOW_PEER, _PEER = 0xFFFFFFFF, 4, 2
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_UNIX_REQUEST, _UNIX_MESSAGE = struct.Struct("=BBHIIIII"), struct.Struct("=BBBBIII")
_TCP_REQUEST: Final = struct.Struct("=BBBBI48x")
# Family, state, timer, retransmits; ports and addresses in the order of the network; then, from byte 52 on, the rest.
_TCP_MESSAGE: Final = struct.Struct("=BBBBHH16s16s12xIIIII")
_INFO, _BYTECODE = 2, 1
# struct tcp_info (linux/tcp.h): probes, then in ms since data, and since an acknowledgement, came.
_PROBES, _DATA_RECEIVED, _ACK_RECEIVED = 3, 52, 56
ESTABLISHED: Final = 1
_ANY_BUT_LISTENING: Final = 0xFFFFFFFF & ~(1 << 10)
_COMPARES: Final = {"local": (2, 3), "peer": (4, 5)}
_TIMEOUT_S: Final = 1.0

Address: TypeAlias = tuple[str, int]
Timer: TypeAlias = Literal["none", "retransmit", "keepalive", "other"]
_TIMERS: Final[dict[int, Timer]] = {0: "none", 1: "retransmit", 2: "keepalive"}


class End(NamedTuple):
    """One end of a TCP connection that is here: its own address and port, and those of the other end.

    `heard_s` is how long ago anything came from there, an acknowledgement too; `unanswered` how often it was sent
    something, or asked whether it is there (`timer` says which), without an answer. Both are of established ones alone.
    """

    local: Address
    peer: Address
    state: int
    timer: Timer
    unanswered: int
    heard_s: float | None


def tcp_ends(port: int | None = None, of: Literal["local", "peer"] = "local") -> Iterator[End]:
    """Ends of TCP connections, listening sockets left out: all, or those with that port at this or at the other end.

    Raises:
        OSError: The kernel does not tell.
    """
    for family in (socket.AF_INET, socket.AF_INET6):
        request = _TCP_REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (_INFO - 1), 0, _ANY_BUT_LISTENING)
        for message in _dump(request + (_port_is(port, *_COMPARES[of]) if port is not None else b"")):
            yield _end(message)


def unix_peers() -> Iterator[tuple[int, int]]:
    """The inodes of both ends of each Unix socket that is connected; none where the kernel does not tell."""
    request = _UNIX_REQUEST.pack(socket.AF_UNIX, 0, 0, _ALL_STATES, 0, _SHOW_PEER, 0xFFFFFFFF, 0xFFFFFFFF)
    with suppress(OSError):
        for message in _dump(request):
            told = _attributes(message[_UNIX_MESSAGE.size :])
            yield from (
                (_UNIX_MESSAGE.unpack_from(message)[4], int.from_bytes(value[:4], sys.byteorder))
                for kind, value in told
                if kind == _PEER
            )


def _dump(request: bytes) -> Iterator[bytes]:
    """The messages that answer a request for a list, each without its header.

    Raises:
        OSError: There is no such list, or no answer in time.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as diag:
        diag.settimeout(_TIMEOUT_S)
        diag.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _DUMP, 1, 0) + request)
        while True:
            answer = diag.recv(1 << 16)
            at = 0
            while at + _HEADER.size <= len(answer):
                length, kind, *_ = _HEADER.unpack_from(answer, at)
                if kind == _ERROR or length < _HEADER.size:
                    raise OSError("the kernel does not list these sockets")
                if kind == _DONE:
                    return
                yield answer[at + _HEADER.size : at + length]
                at += (length + 3) & ~3


def _port_is(port: int, at_least: int, at_most: int) -> bytes:
    """The kernel's own filter, as an attribute: two comparisons, each with its operand, that else go beyond the end."""
    code = b"".join(
        struct.pack("=BBHHH", compare, 8, beyond, 0, port) for compare, beyond in ((at_least, 20), (at_most, 12))
    )
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(code), _BYTECODE) + code


def _attributes(text: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(text):
        length, kind = _ATTRIBUTE.unpack_from(text, at)
        if length < _ATTRIBUTE.size:
            return
        yield kind, text[at + _ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3


def _end(message: bytes) -> End:
    family, state, timer, retransmits, port, peer_port, local, peer, *_ = _TCP_MESSAGE.unpack_from(message)
    info = next((value for kind, value in _attributes(message[_TCP_MESSAGE.size :]) if kind == _INFO), b"")
    heard_s, probes = None, 0
    if state == ESTABLISHED and len(info) >= _ACK_RECEIVED + 4:
        heard_s = min(struct.unpack_from("=I", info, at)[0] for at in (_DATA_RECEIVED, _ACK_RECEIVED)) / 1e3
        probes = info[_PROBES]
    name: Timer = _TIMERS.get(timer, "other")
    unanswered = max(retransmits, probes) if name != "none" else 0
    return End(
        (_text(family, local), socket.ntohs(port)),
        (_text(family, peer), socket.ntohs(peer_port)),
        state,
        name,
        unanswered,
        heard_s,
    )


def _text(family: int, raw: bytes) -> str:
    """An address as PostgreSQL writes it; one of IPv4 that stands within IPv6 as itself."""
    address = ip_address(raw[:4] if family == socket.AF_INET else raw)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
