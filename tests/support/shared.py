"""What is kept apart from this repository: the corpus, files of other tools, and the casebook, cases with their truth.

Named by $DOCTORD_CORPUS and $DOCTORD_CASEBOOK, else looked for beside the repository. Not everybody has them: their
tests are skipped, except where the variable is set, as .ci/run sets it. Then what is not there is a failure; so it is
with the tests in Rust (native/calltrace/tests/shared).
"""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared"


def _folder(variable: str, name: str) -> Path:
    """The folder, with `..` in its name resolved; it must be there when the variable is set."""
    named = os.environ.get(variable)
    folder = Path(named or BESIDE / name).resolve()
    if named and not folder.is_dir():
        raise NotADirectoryError(f"{variable} names {folder}, which is no folder: name one, or unset it")
    return folder


CORPUS = _folder("DOCTORD_CORPUS", "corpus")
CASEBOOK = _folder("DOCTORD_CASEBOOK", "casebook")

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus in {CORPUS} ($DOCTORD_CORPUS)")
needs_casebook = pytest.mark.skipif(not CASEBOOK.is_dir(), reason=f"no casebook in {CASEBOOK} ($DOCTORD_CASEBOOK)")


def sample(path: Path) -> Path:
    """A file or folder of the corpus or the casebook; the test is skipped where there is none."""
    root = CORPUS if path.is_relative_to(CORPUS) else CASEBOOK
    if not root.is_dir():
        pytest.skip(f"{root} is not here")
    assert path.exists(), f"{path} is not here, while {root} is"
    return path
