"""Samples as Prometheus' remote write 1.0 takes them: a protobuf message, compressed as a block of Snappy.

The message is `WriteRequest` of prometheus/prompb (remote.proto, types.proto); the block holds literals alone, which
the format allows (google/snappy, format_description.txt): some hundred samples of a moment are not worth a library.

Prometheus documentation, "Prometheus Remote-Write 1.0 specification".
"""

import struct
from collections.abc import Iterator
from typing import Final

from doctord.app.metrics_out.samples import Moment, Sample

HEADERS: Final = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
# Fields by number and kind of encoding, as a message tags them.
_TIMESERIES, _LABELS, _SAMPLES, _NAME, _VALUE = b"\x0a", b"\x0a", b"\x12", b"\x0a", b"\x12"
_DOUBLE, _MILLISECONDS = b"\x09", b"\x10"
# A literal whose length takes two bytes.
_LITERAL, _LONGEST_LITERAL = b"\xf4", 1 << 16


def write_request(moment: Moment) -> bytes:
    """The body of a request with all samples of a moment."""
    at_ms = int(moment.at.timestamp() * 1000)
    return compressed(b"".join(_field(_TIMESERIES, _series(one, at_ms)) for one in moment.samples))


def compressed(message: bytes) -> bytes:
    """A block of Snappy that holds a message as it is."""
    return _varint(len(message)) + b"".join(_literals(message))


def _literals(message: bytes) -> Iterator[bytes]:
    for begin in range(0, len(message), _LONGEST_LITERAL):
        part = message[begin : begin + _LONGEST_LITERAL]
        yield _LITERAL + struct.pack("<H", len(part) - 1) + part


def _series(sample: Sample, at_ms: int) -> bytes:
    """A series with one sample; its labels are sorted, as the specification wants them."""
    labels = sorted(
        {"__name__": sample.name, **{name: value for name, value in sample.labels.items() if value}}.items()
    )
    told = b"".join(_field(_LABELS, _field(_NAME, name.encode()) + _field(_VALUE, value.encode()))
                    for name, value in labels)  # fmt: skip
    value = _DOUBLE + struct.pack("<d", sample.value) + _MILLISECONDS + _varint(at_ms)
    return told + _field(_SAMPLES, value)


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first.

    >>> _varint(300).hex()
    'ac02'
    """
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)
