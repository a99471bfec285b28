"""Whether two names of where a server listens may mean the same."""

import os

import pytest

from doctord.collect.core.place import Place


@pytest.mark.parametrize("own", ["", "/run/postgresql", "127.0.0.2", "::1", os.uname().nodename])
def test_this_host_by_any_of_its_names_is_here(own: str) -> None:
    assert Place(own, 5432).may_be(Place("localhost", 5432))


# 192.0.2.0/24 and 2001:db8::/32 are of nobody (RFC 5737, RFC 3849).
@pytest.mark.parametrize("other", ["192.0.2.7", "2001:db8::7", "db1.example", f"not-{os.uname().nodename}"])
def test_another_host_is_not(other: str) -> None:
    assert not Place(other, 5432).may_be(Place("localhost", 5432))
    assert Place(other, 5432).may_be(Place(other, 5432))
    assert not Place(other, 5432).may_be(Place(other, 5433))
