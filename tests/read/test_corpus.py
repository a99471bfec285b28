"""Every file of the corpus is recognised, and read to its last line."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctord.read.archive import Piece
from doctord.read.gather import read_piece
from doctord.read.source import ReadOptions
from shared import CORPUS, needs_corpus

pytestmark = pytest.mark.slow

# A letter to whoever reads the corpus, and what a study's runs were made with.
NO_MEASUREMENTS = {"MANIFEST.md", "parameters.csv"}
# Cut in the middle of a line, or of a call, when they were copied: the lines that this costs.
CUT = {"blk_tracer_vda.txt": 1, "pg_f_ttt_T_4MB.txt": 1, "pg_log_3MB.txt": 1}


def files() -> Iterator[Path]:
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file() and path.name not in NO_MEASUREMENTS:
            yield path


@pytest.mark.parametrize("path", [*files()], ids=lambda path: str(path.relative_to(CORPUS)))
def test_it_is_read(path: Path) -> None:
    if path.suffix == ".bin" and not shutil.which("sadf"):
        pytest.skip("sysstat's binary files are read through sadf, which is not here")
    read = read_piece(Piece(path, str(path)), ReadOptions())
    assert read.refusal is None
    assert sum(table.num_rows for table in read.tables.values())
    assert read.skipped_lines <= CUT.get(path.name, 0), read.skipped[:3]


@needs_corpus
def test_the_corpus_is_here() -> None:
    assert sum(1 for _ in files()) > 90
