"""What a study looks at, as conditions in SQL on the rows of a lake: of two days with processes it reads a fiftieth."""

from collections.abc import Iterable
from typing import Final

from doctord.analyse.study.figures import KEPT, LOAD_TESTS, OF_HOST, SYSSTAT
from doctord.analyse.study.spent import LOADS
from doctord.analyse.time import DB_TIME
from doctord.dataset.common_statistics import COMMON
from doctord.dataset.figure import own_figures
from doctord.dataset.tables import WORKING

ALL: Final = "true"


def _listed(words: Iterable[str]) -> str:
    return f"({', '.join(repr(word) for word in dict.fromkeys(words))})"


_NAMES: Final = (
    DB_TIME,
    *(name for _, names in LOADS for name in names),
    *(name for one in COMMON.values() for names in one.names.values() for name in names),
)
_OF_HOST: Final = {figure.table: ALL for figure in own_figures() if figure.component in OF_HOST}

NEEDS: Final = {
    **_OF_HOST,
    "cpu": "cpu IS NULL",
    "wait": ALL,
    "statement": ALL,
    "timing": ALL,
    "latency": ALL,
    "setting": ALL,
    "space": "kind IN ('table', 'index')",
    "statistic": f"component IN {_listed((*LOAD_TESTS, *KEPT, 'target'))} OR name IN {_listed(_NAMES)} "
    f"OR (component = 'oracle' AND name LIKE '{SYSSTAT}%')",
}
# Where sampling did not sum itself up in `wait` (see `time.SAMPLED`), its rows are needed.
SESSIONS: Final = {"session": f"kind IN {WORKING} AND state = 'active' AND wait_class <> 'Idle'"}
