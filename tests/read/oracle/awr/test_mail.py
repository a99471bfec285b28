"""HTML that a mail program saved."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from doctord.read.oracle.awr.mail import unmailed

HTML = b'<html><body><table border="0"><tr><td class="awr">caf\xc3\xa9 = 1</td></tr></table></body></html>'


def test_a_part_in_base64() -> None:
    head = b"Subject: report\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    assert unmailed(head + base64.encodebytes(HTML)) == HTML


def test_other_content_stays_as_it_is() -> None:
    assert unmailed(HTML) == HTML
    assert unmailed(b"Begin: 1\nEnd: 2\n\nno mail at all") == b"Begin: 1\nEnd: 2\n\nno mail at all"


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(content: bytes) -> None:
    head = b"A: 1\nContent-Type: text/html; charset=nonsense\nContent-Transfer-Encoding: base64\n\n"
    assert isinstance(unmailed(head + content), bytes)
    assert isinstance(unmailed(content), bytes)
