"""How much of a fault is injected: its intensity, and the seed of what is random in it."""

from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

Intensity = Literal["mild", "moderate", "severe"]
INTENSITIES: Final[tuple[Intensity, ...]] = get_args(Intensity)

Amount = TypeVar("Amount")


@dataclass(frozen=True, slots=True)
class Dose:
    """What one injection is given; `moderate` is what each fault has a recording of."""

    seed: int = 1
    intensity: Intensity = "moderate"

    def of(self, mild: Amount, moderate: Amount, severe: Amount) -> Amount:
        """Which of three amounts this intensity has."""
        return {"mild": mild, "moderate": moderate, "severe": severe}[self.intensity]


MODERATE: Final = Dose()
