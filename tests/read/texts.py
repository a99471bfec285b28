"""What the tests of interactive tools share: a sample or a file of the corpus as a dataset."""

from pathlib import Path

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from reading import SAMPLES


def dataset_of(path: Path, *, zone: str | None = "UTC", every_s: float | None = None) -> Dataset:
    """The rows of a whole file, of which no line may be skipped."""
    reading = read_file(path, zone=zone, every_s=every_s)
    assert reading.skipped_lines == 0, reading.skipped
    return Dataset.from_batches(reading.batches)


def dataset_of_sample(name: str, *, zone: str | None = "UTC", every_s: float | None = None) -> Dataset:
    return dataset_of(SAMPLES / name, zone=zone, every_s=every_s)


def values(dataset: Dataset, name: str, entity: str | None = None) -> list[float]:
    """The values of a statistic in time order."""
    rows = dataset.frame("statistic").filter(name=name)
    return (rows if entity is None else rows.filter(entity=entity))["value"].to_list()


def table_under(text: str, heading: str) -> list[dict[str, str]]:
    """The lines below each heading, by its names: a reader of its own, for lines that are never cut."""
    names, found = list[str](), list[dict[str, str]]()
    for line in text.splitlines():
        words = line.split()
        if heading in words:
            names = words
        elif not words:
            names = []
        elif names and len(words) >= len(names):
            found.append(dict(zip(names, words, strict=False)))
    return found
