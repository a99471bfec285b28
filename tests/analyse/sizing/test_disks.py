import pytest

from doctord.analyse.sizing.disks import disks
from doctord.analyse.sizing.question import Sizing
from doctord.analyse.sizing.working import Quantity
from sizes import given, step


def sized(reads: float, writes: float, penalty: float = 2, **more: Quantity) -> Sizing:
    return disks(
        reads=given(reads, "per_s"),
        writes=given(writes, "per_s"),
        service=given(0.005, "s"),
        write_penalty=given(penalty),
        limit=given(0.5, "share"),
        **more,
    )


def test_the_casebook_s_23_disks_serve_4600() -> None:
    sizing = sized(4600, 0, disks=given(23))
    assert step(sizing, "disks there, at most").value == pytest.approx(4600)
    assert step(sizing, "how busy they are").value == pytest.approx(1)
    assert sizing.fits is False
    assert "a cache answers" in sizing.cautions[0]


@pytest.mark.parametrize(("penalty", "requests"), [(1, 4600), (2, 5200), (4, 6400), (6, 7600)])
def test_the_write_penalty(penalty: float, requests: float) -> None:
    sizing = sized(4000, 600, penalty)
    assert step(sizing, "requests to disks").value == requests
    assert step(sizing, "disks wanted").value == requests * 0.005 / 0.5


def test_response_with_what_is_there() -> None:
    sizing = sized(1000, 0, disks=given(10))
    assert step(sizing, "how busy they are").value == pytest.approx(0.5)
    assert step(sizing, "response then").value == pytest.approx(0.010)
    assert sizing.fits is True
