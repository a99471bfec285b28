"""Requests one by one: whether they arrive whole."""

import pytest

from doctord.analyse.storage.block_sizes import block_sizes
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from read.texts import dataset_of
from shared import CASEBOOK, CORPUS, sample


def requests(size: int, count: int, *, apart: int = 0, run: int = 8) -> Dataset:
    """Runs of requests, each of which follows the one before but for the first of a run."""
    rows, sector = [], 0
    for number in range(count):
        sector += 10**6 if number % run == 0 else apart
        rows.append({"ts": number * 1000, "device": "sda", "operation": "read", "sector": sector, "bytes": size})
        sector += size // 512
    return Dataset.from_rows(block_io=rows)


@pytest.mark.parametrize("name", ["vxfs-1k.vxtrace", "vxfs-8k.vxtrace"])
def test_the_casebooks_blocks_arrive_whole_on_both_file_systems(name: str) -> None:
    dataset = dataset_of(sample(CASEBOOK / "iosize" / name))
    (sizes,) = block_sizes(dataset)
    assert {size for size, _ in sizes.sizes} == {16384, 65536}
    assert sizes.whole_block == 16384
    diagnosis = diagnose(dataset)
    assert diagnosis.healthy
    assert "I/O requests" in diagnosis.judged
    assert "all are multiples of 16.0 KiB: blocks of that size arrive whole" in said(diagnosis.looked_at[0])


def test_pieces_that_follow_one_another() -> None:
    (finding,) = diagnose(requests(8192, 64)).findings
    assert said(finding.title) == "reads of sda arrive in pieces of 8.0 KiB"
    assert said(finding.for_[0].why) == "8 in a row on average"


@pytest.mark.parametrize(
    "dataset",
    [requests(8192, 64, apart=64), requests(8192, 64, run=2), requests(512 * 1024, 64), requests(8192, 15)],
    ids=["all over the disk", "pairs", "large already", "too few"],
)
def test_requests_that_are_no_pieces(dataset: Dataset) -> None:
    assert diagnose(dataset).healthy


def test_sizes_of_a_real_trace_agree_with_its_text() -> None:
    file = sample(CORPUS / "testbed/blk_tracer_vda.txt")
    completed = [line.split(": ", 1)[1].split() for line in file.read_text().splitlines() if "  C  " in line]
    reads = [int(words[5]) * 512 for words in completed if words[2].startswith("R") and len(words) > 5]
    from doctord.read.formats import read_file  # noqa: PLC0415 - the text ends within a line: it has a line to skip

    sizes = next(s for s in block_sizes(Dataset.from_batches(read_file(file).batches)) if s.operation == "read")
    assert sizes.requests == len(reads) > 500
    assert dict(sizes.sizes) == {size: reads.count(size) for size in set(reads)}
