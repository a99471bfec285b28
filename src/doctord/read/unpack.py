"""What a file is packed in, taken off: gzip, zstd, xz, bz2, UTF-16, and what mail programs make of a text."""

import io
import lzma
import quopri
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from typing import IO, Final, cast

import pyarrow as pa

from doctord.regex import regex

HEAD_BYTES: Final = 1 << 16
MOST_WHOLE_BYTES: Final = 1 << 30  # what has to be held whole may be so large
PACKED: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz", b"BZh": "bz2"}
UNPACK_ERRORS: Final = (OSError, EOFError, lzma.LZMAError)
BYTE_ORDER_MARKS: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
IS_MAIL: Final = regex(rb"\A(?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:MIME-Version|Content-Type):", re.IGNORECASE)
IS_QUOTED: Final = regex(rb'=3D["\w]')


def unpacked(raw: IO[bytes]) -> io.BufferedReader:
    """The text of a stream, as UTF-8 where it can be told what it is.

    Raises:
        OSError, EOFError, lzma.LZMAError: it is damaged.
    """
    stream = _uncompressed(io.BufferedReader(cast("io.RawIOBase", raw), HEAD_BYTES))
    head = stream.peek(HEAD_BYTES)[:HEAD_BYTES]
    for what, undo in ((_wide_encoding(head), _narrow), (_mail_encoding(head), _from_mail)):
        if what:
            text = undo(stream.read(MOST_WHOLE_BYTES), what)
            stream.close()
            return io.BufferedReader(cast("io.RawIOBase", io.BytesIO(text)), HEAD_BYTES)
    if head.startswith(BOM_UTF8):
        stream.read(len(BOM_UTF8))
    return stream


def is_compressed(head: bytes) -> bool:
    """Whether bytes begin as those of a compressed file."""
    return any(head.startswith(magic) for magic in PACKED)


class _Xz(lzma.LZMAFile):
    """Closes what it reads from, as the streams of the other kinds do."""

    def __init__(self, packed: io.BufferedReader) -> None:
        super().__init__(packed)
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


def _uncompressed(packed: io.BufferedReader) -> io.BufferedReader:
    magic = packed.peek(8)[:8]
    kind = next((kind for begin, kind in PACKED.items() if magic.startswith(begin)), None)
    if kind is None:
        return packed
    if kind == "xz":
        return io.BufferedReader(cast("io.RawIOBase", _Xz(packed)), HEAD_BYTES)
    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(packed), kind), HEAD_BYTES)


def _wide_encoding(head: bytes) -> str | None:
    """The encoding of a text in UTF-16: by its mark, else by every other byte being nothing."""
    marked = BYTE_ORDER_MARKS.get(head[:2])
    if marked or len(head) < 8:
        return marked
    high, low = head[1:64:2], head[:64:2]
    if not any(high) and all(low):
        return "utf-16-le"
    return "utf-16-be" if not any(low) and all(high) else None


def _narrow(text: bytes, encoding: str) -> bytes:
    return text.decode(encoding, errors="replace").removeprefix("\ufeff").encode()


def _mail_encoding(head: bytes) -> str | None:
    if IS_MAIL.match(head):
        return "mail"
    return "quoted-printable" if len(IS_QUOTED.findall(head)) > 3 and b"=\n" in head.replace(b"\r", b"") else None


def _from_mail(text: bytes, encoding: str) -> bytes:
    """The longest text in a mail, that in HTML first; or one that lost its mail's head."""
    if encoding == "quoted-printable":
        return quopri.decodestring(text)
    parts = [part for part in message_from_bytes(text).walk() if part.get_content_maintype() == "text"]
    by_worth: Callable[[Message], tuple[bool, int]] = lambda part: (  # noqa: E731 - a key
        part.get_content_subtype() == "html",
        len(part.get_payload()),
    )
    best = max(parts, key=by_worth, default=None)
    return cast("bytes", best.get_payload(decode=True)) if best else text
