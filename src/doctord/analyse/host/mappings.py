"""What database processes have mapped, and in pages of which size."""

from typing import Final, NamedTuple

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

SHARED: Final = "shared memory"


class Mapping(NamedTuple):
    """All mappings of one kind (`shared memory`, `heap`, `anonymous`, `file`) of a process, as they were last."""

    pid: int
    kind: str
    size_bytes: float
    huge_bytes: float


class Pool(NamedTuple):
    """Pages of one size that are kept for who asks for huge pages, as last read: `rsvd` are promised, not taken."""

    page_bytes: int
    total: float
    free: float
    rsvd: float

    @property
    def idle_bytes(self) -> float:
        """What nobody has, nor was promised."""
        return max(self.free - self.rsvd, 0.0) * self.page_bytes


def mappings(dataset: Dataset, kind: str) -> list[Mapping]:
    """The mappings of that kind of each process that was looked at, largest first."""
    huge = {figure.entity: figure.last for figure in figures.figures(dataset, "smaps.huge_bytes")}
    found = []
    for figure in figures.figures(dataset, "smaps.size_bytes"):
        pid, _, told = (figure.entity or "").partition(" ")
        if told == kind and pid.isdigit():
            found.append(Mapping(int(pid), kind, figure.last, huge.get(figure.entity, 0.0)))
    return sorted(found, key=lambda mapping: -mapping.size_bytes)


def pools(dataset: Dataset) -> list[Pool]:
    """The pools of huge pages that hold any, of the whole host: of all sizes, else of the default one."""
    told = {name: _by_size(dataset, f"hugepages.{name}") for name in ("total", "free", "rsvd")}
    found = [
        Pool(int(size.removesuffix(" kB")) * 1024, total, told["free"].get(size, 0.0), told["rsvd"].get(size, 0.0))
        for size, total in told["total"].items()
        if total
    ]
    return found or _default_pool(dataset)


def _by_size(dataset: Dataset, name: str) -> dict[str, float]:
    """By size; a node's own share of a pool has its number before that."""
    read = figures.figures(dataset, name)
    return {figure.entity: figure.last for figure in read if figure.entity and figure.entity.count(" ") == 1}


def _default_pool(dataset: Dataset) -> list[Pool]:
    read = dataset.frame("memory").select("huge_page_bytes", "huge_pages_total", "huge_pages_free", "huge_pages_rsvd")
    known = read.drop_nulls(["huge_page_bytes", "huge_pages_total", "huge_pages_free"])
    if known.is_empty() or not known.row(-1)[1]:
        return []
    size, total, free, rsvd = known.row(-1)
    return [Pool(size, total, free, rsvd or 0.0)]
