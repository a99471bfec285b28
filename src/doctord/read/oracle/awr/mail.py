"""HTML that a mail program saved: a message with parts, or quoted-printable text."""

import quopri
import re

from doctord.regex import regex

HEADERS = regex(rb"\A\s*(?:[A-Za-z][A-Za-z0-9-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}")
QUOTED = regex(rb"<[a-z0-9 ]+=3D|=3D\"[^\"\n]*\"", re.IGNORECASE)
HEAD_BYTES = 1 << 16


def unmailed(content: bytes) -> bytes:
    """The HTML of a saved message; any other content as it is."""
    if HEADERS.match(content[:HEAD_BYTES]):
        content = _part(content)
    if QUOTED.search(content[:HEAD_BYTES]):
        return quopri.decodestring(content)
    return content


def _part(content: bytes) -> bytes:
    import binascii  # noqa: PLC0415 - these take longer to import than a report to read, and few are mails
    import email  # noqa: PLC0415
    from email import policy  # noqa: PLC0415
    from email.message import EmailMessage  # noqa: PLC0415

    message = email.message_from_bytes(content, _class=EmailMessage, policy=policy.default)
    for part in message.walk():
        if part.get_content_type() == "text/html":
            try:
                payload = part.get_payload(decode=True)
            except (binascii.Error, LookupError, ValueError):
                return content
            return payload if isinstance(payload, bytes) else content
    return content
