"""Disks: how many serve so many requests a second and stay quick."""

from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Sizing, given_lines, known
from doctord.analyse.sizing.working import Quantity, Step, round_up

UTILISATION: Final = (
    'Utilisation law: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", 1978'
)
RAID: Final = 'P. M. Chen and others, "RAID: high-performance, reliable secondary storage", 1994'
MM1: Final = 'M/M/1: L. Kleinrock, "Queueing Systems", volume 1, 1975'

INPUTS: Final = (
    Input("reads", "reads", "per_s", "Reads at the busiest: 4000/s.", zero=True),
    Input("writes", "writes", "per_s", "Writes at the busiest: 600/s.", zero=True),
    Input("service", "service time", "s", "Time of a random request on one idle disk, no cache, no queue: 5ms."),
    Input(
        "write-penalty",
        "disk writes for a write",
        "count",
        "Requests to disks for one small write: 1 none, 2 mirrored, 4 RAID 5, 6 RAID 6.",
    ),
    Input(
        "limit",
        "utilisation limit",
        "share",
        "How busy a disk may be: 50%.",
        below=1.0,
        assumed=0.5,
        because="a request then takes twice its service time; above, the wait grows fast",
    ),
    Input("disks", "disks", "count", "Disks there now: 23.", needed=False),
)


def disks(
    *,
    reads: Quantity,
    writes: Quantity,
    service: Quantity,
    write_penalty: Quantity,
    limit: Quantity,
    disks: Quantity | None = None,
) -> Sizing:
    """Disks = (reads + penalty x writes) x service time / utilisation limit, and what those there now can do."""
    requests = (reads + write_penalty * writes).step("requests to disks", "per_s", RAID)
    one = (1 / service).step("one disk at most", "per_s", UTILISATION)
    wanted = round_up(requests * service / limit).step("disks wanted", "count", UTILISATION)
    response = (service / (1 - limit)).step("response at the limit", "s", MM1)
    most = (disks * one).step("disks there, at most", "per_s", UTILISATION) if disks else None
    busy = (requests * service / disks).step("how busy they are", "share", UTILISATION) if disks else None
    now = (service / (1 - busy)).step("response then", "s", MM1) if busy and busy.value < 1 else None
    return Sizing(
        f"Disks: {amount(wanted.value, 'count')}, each at most {amount(limit.value, 'share')} busy.",
        known(requests, one, wanted, response, most, busy, now),
        cautions=_cautions(busy),
        fits=disks.value >= wanted.value if disks else None,
    )


def _cautions(busy: Step | None) -> tuple[str, ...]:
    return given_lines(
        busy is not None
        and busy.value >= 1
        and "The disks there cannot serve this: requests queue without end. If they seem to, a cache answers most.",
        "Requests are taken to come at random, to spread evenly, and to find no cache: a hot disk is busier than "
        "this, and a cache makes it less.",
        "Solid state serves many requests at a time: size it by a load curve (doctord size queue-depth).",
        "Even numbers for mirrors; spares come on top, and so does the space that the data need.",
    )


QUESTION: Final = Question("disks", "How many disks do so many requests a second need?", INPUTS, disks)
