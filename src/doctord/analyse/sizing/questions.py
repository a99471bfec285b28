"""Every question of size that can be answered."""

from typing import Final

from doctord.analyse.sizing import (
    buffer_cache,
    disks,
    huge_pages,
    listener,
    page_tables,
    pool,
    queue_depth,
    redo,
    tlb,
    wal,
    work_memory,
)
from doctord.analyse.sizing.question import Question

MODULES: Final = (
    huge_pages,
    page_tables,
    tlb,
    redo,
    wal,
    queue_depth,
    disks,
    pool,
    work_memory,
    buffer_cache,
    listener,
)
QUESTIONS: Final[dict[str, Question]] = {module.QUESTION.name: module.QUESTION for module in MODULES}
