"""Who does hardly anything but call the kernel."""

from typing import Final

import polars as pl

from doctord.analyse.host.closer_looks import Caller, callers
from doctord.diagnose.case import Case

# A system call that does next to nothing takes 0.1 to 0.3 us: with 5 us for it and the program's own work, little is
# done between two.
CALLS_PER_CPU_S: Final = 200_000.0
# A tenth of a CPU in the kernel, half of what the process uses: less is not worth a look at it.
KERNEL_CPUS: Final = 0.1
KERNEL_SHARE: Final = 0.5


def storm(case: Case) -> Caller | None:
    """The process with most system calls of those that call all the time; null without one."""
    return next((one for one in callers(case.dataset) if _is_storm(case, one)), None)


def _is_storm(case: Case, one: Caller) -> bool:
    """Whether it calls all the time: while it was looked at closer, and by its time in the kernel all along."""
    rows = case.dataset.frame("process").filter(pl.col("pid") == one.pid)
    kernel = rows["sys_pct"].mean()
    is_long = isinstance(kernel, float) and kernel >= KERNEL_CPUS * 100
    return is_long and one.calls_per_cpu_s >= CALLS_PER_CPU_S and one.kernel >= KERNEL_SHARE * one.cpus
