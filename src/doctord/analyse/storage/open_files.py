"""How a database server has its files open, and in how many pieces these lie."""

from typing import Final, NamedTuple

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

# What servers call their data directory.
FOLDERS: Final = ("data_directory", "datadir")


class OpenFiles(NamedTuple):
    """The files of one kind (`data` or `log`) that a server's largest processes have open for writing: how many."""

    folder: str
    kind: str
    files: float
    direct: float


class Pieces(NamedTuple):
    """A data file, its size, and the number of pieces in which it lies on the disk."""

    file: str
    size_bytes: float
    pieces: float

    @property
    def mean_bytes(self) -> float:
        """Size of a piece, on average."""
        return self.size_bytes / max(self.pieces, 1.0)


def open_files(dataset: Dataset, db: str, kind: str) -> OpenFiles | None:
    """The files of a server; null where they were not seen, or cannot be told from another server's."""
    folder = _folder(dataset, db)
    direct = {figure.entity: figure.last for figure in figures.figures(dataset, "open_files.direct")}
    for figure in figures.figures(dataset, "open_files.writable"):
        if folder and figure.entity == f"{folder} {kind}" and figure.entity in direct:
            return OpenFiles(folder, kind, figure.last, direct[figure.entity])
    return None


def rings(dataset: Dataset, db: str) -> float | None:
    """How many rings for asynchronous I/O the processes of a server have open; null where that was not seen."""
    folder = _folder(dataset, db)
    found = {figure.entity: figure.last for figure in figures.figures(dataset, "open_files.io_uring")}
    return found.get(folder)


def _folder(dataset: Dataset, db: str) -> str | None:
    """The server's folder: as its settings say, else the only one that was seen."""
    seen = {figure.entity for figure in figures.figures(dataset, "open_files.io_uring") if figure.entity}
    told = next((value for name in FOLDERS if (value := figures.setting(dataset, name, db))), None)
    if told is not None and told.rstrip("/") in seen:
        return told.rstrip("/")
    return next(iter(seen)) if len(seen) == 1 else None


def pieces(dataset: Dataset) -> list[Pieces]:
    """The large data files that were looked at, those in the smallest pieces first."""
    counts = {figure.entity: figure.last for figure in figures.figures(dataset, "extents.count")}
    sizes = figures.figures(dataset, "extents.file_bytes")
    found = [
        Pieces(size.entity, size.last, counts[size.entity]) for size in sizes if size.entity and size.entity in counts
    ]
    return sorted(found, key=lambda file: (file.mean_bytes, file.file))
