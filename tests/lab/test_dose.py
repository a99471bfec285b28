import pytest

from doctord.lab.dose import INTENSITIES, Dose, Intensity


@pytest.mark.parametrize(("intensity", "clients"), list(zip(INTENSITIES, (1, 4, 16), strict=True)))
def test_each_intensity_has_its_amount(intensity: Intensity, clients: int) -> None:
    assert Dose(1, intensity).of(1, 4, 16) == clients


def test_without_any_word_it_is_moderate() -> None:
    assert Dose().of("less", "as ever", "more") == "as ever"
