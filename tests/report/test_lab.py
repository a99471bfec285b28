"""What is said of a run of the lab."""

from pathlib import Path

from doctord.app.lab import Tried
from doctord.lab.dose import Dose
from doctord.lab.effect import Effect
from doctord.lab.fault import all_faults
from doctord.lab.host.disk import DiskPace
from doctord.lab.load.workload import Pace
from doctord.lab.run import Outcome
from doctord.report.lab import document, render

BEFORE, DURING = Pace(100.0, 1.0), Pace(98.0, 1.2)
LATENCY = Effect("latency of the light load", "ms", 1.0, 1.2, 1.5, found=False)
REFUSED = Effect("logins refused", "logins", None, 12.0, 1.0, found=True)


def tried(effect: Effect | None, disk: DiskPace | None = None) -> Tried:
    return Tried(Outcome(all_faults()["cpu_hog"], Dose(1, "mild"), None, BEFORE, DURING, effect, disk=disk))


def test_an_injection_without_effect_is_said_to_be_no_case() -> None:
    assert render(tried(LATENCY)).splitlines() == [
        "The light load before: 100 transactions/s, 1 ms each; during mild cpu_hog: 98 transactions/s, 1.2 ms each.",
        "It took no effect, so that there is nothing to diagnose: "
        "latency of the light load, before 1 ms, during 1.2 ms.",
    ]


def test_one_with_an_effect_says_by_what() -> None:
    last = render(tried(REFUSED)).splitlines()[-1]
    assert last == "It took effect: logins refused, before not there, during 12 logins."


def test_the_document_holds_intensity_and_effect() -> None:
    said = document(tried(LATENCY))
    assert said["intensity"] == "mild"
    assert said["effect"] == {
        "what": "latency of the light load",
        "unit": "ms",
        "before": 1.0,
        "during": 1.2,
        "threshold": 1.5,
        "found": False,
    }
    assert document(tried(None))["effect"] is None


def test_a_disk_that_stood_still_by_itself_is_told() -> None:
    stood_still = tried(REFUSED, DiskPace(812.4, 1.0))
    assert render(stood_still).splitlines()[-1] == (
        "The disk stood still by itself: "
        "the slowest of the lab's own synced writes took 812 ms before and 1 ms during the fault."
    )
    assert document(stood_still)["disk"] == {"before_ms": 812.4, "during_ms": 1.0, "stood_still": True}


def test_one_that_stands_still_during_the_fault_may_do_so_because_of_it() -> None:
    assert document(tried(REFUSED, DiskPace(1.0, 812.4)))["disk"]["stood_still"] is False
    assert "The disk" not in render(tried(REFUSED, DiskPace(1.0, 812.4)))


def test_every_key_of_the_document_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "lab.md").read_text(encoding="utf-8")
    said = document(tried(LATENCY))
    parts = {"effect": said["effect"], "disk": document(tried(LATENCY, DiskPace(1.0, 1.0)))["disk"]}
    inner = {
        full if (full := f"`{part}.{key}`") in page else f"`.{key}`" for part, told in parts.items() for key in told
    }
    assert {key for key in (*(f"`{key}" for key in said), *inner) if key not in page} == set()
