"""For how long a certificate holds: the two times of its validity, and nothing else of it.

A small reader of DER, for Python's ssl gives no certificate that it has not verified but as bytes (and of a file only
those of authorities), openssl is no part of every host, and a library for it all would be a dependency for two times.
RFC 5280, 4.1: a Certificate is a sequence whose first member holds version (optional), number, signature algorithm,
issuer and validity, in that order.
"""

import base64
from datetime import UTC, datetime
from typing import Final, NamedTuple

from doctord.regex import regex

_SEQUENCE, _VERSION, _UTC_TIME, _GENERALIZED_TIME = 0x30, 0xA0, 0x17, 0x18
_LONG = 0x80
_MOST_LENGTH_BYTES: Final = 4
# Number, signature algorithm, issuer.
_BEFORE_VALIDITY: Final = 3
_PEM: Final = regex(r"-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----([^-]+)-----END \1?CERTIFICATE-----")


class Validity(NamedTuple):
    """From when to when a certificate holds."""

    begins: datetime
    ends: datetime


class _Element(NamedTuple):
    """A tagged value of DER, and where the next one begins."""

    tag: int
    value: bytes
    end: int


def in_file(text: str) -> list[Validity]:
    """The validity of each certificate of a file in PEM, in the order in which they stand there.

    Raises:
        ValueError: One of them is no certificate.
    """
    return [validity(base64.b64decode(found[2])) for found in _PEM.finditer(text)]


def validity(der: bytes) -> Validity:
    """The validity of a certificate.

    Raises:
        ValueError: It is none.
    """
    content = _of(_SEQUENCE, _of(_SEQUENCE, der, 0).value, 0).value
    first = _element(content, 0)
    at = first.end if first.tag == _VERSION else 0
    for _ in range(_BEFORE_VALIDITY):
        at = _element(content, at).end
    times = _of(_SEQUENCE, content, at).value
    begins = _element(times, 0)
    return Validity(_moment(begins), _moment(_element(times, begins.end)))


def _of(tag: int, data: bytes, at: int) -> _Element:
    found = _element(data, at)
    if found.tag != tag:
        raise ValueError(f"no certificate: {found.tag:#x} in place of {tag:#x}")
    return found


def _element(data: bytes, at: int) -> _Element:
    """The element that begins at a place: a tag, a length in one byte or more, and so many bytes."""
    if at + 2 > len(data):
        raise ValueError("no certificate: it ends too early")
    tag, length, begin = data[at], data[at + 1], at + 2
    if length >= _LONG:
        size = length - _LONG
        if not 0 < size <= _MOST_LENGTH_BYTES:
            raise ValueError("no certificate: a length that DER does not have")
        length, begin = int.from_bytes(data[begin : begin + size]), begin + size
    if begin + length > len(data):
        raise ValueError("no certificate: it ends too early")
    return _Element(tag, data[begin : begin + length], begin + length)


def _moment(element: _Element) -> datetime:
    """A time, whose year has two digits until 2049 (RFC 5280, 4.1.2.5)."""
    text = element.value.decode("ascii")
    if element.tag == _UTC_TIME:
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    elif element.tag != _GENERALIZED_TIME:
        raise ValueError("no certificate: no time where one is due")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
