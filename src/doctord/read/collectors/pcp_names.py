"""Where PCP's metrics of the Linux kernel belong in the dataset: table, column, factor (of a counter: of its rate)."""

from typing import Final

KIB: Final = 1024.0
ENTITY: Final = {"cpu": None, "memory": None, "disk": "device", "network": "interface"}
CPU_STATES: Final = {
    "user": "usr_pct", "nice": "usr_pct", "sys": "sys_pct", "idle": "idle_pct", "wait.total": "wait_io_pct",
    "intr": "irq_pct", "steal": "steal_pct",
}  # fmt: skip
PLACES: Final = {
    "kernel.all.pswitch": ("cpu", "csw_per_s", 1.0),
    "kernel.all.intr": ("cpu", "interrupts_per_s", 1.0),
    "kernel.all.sysfork": ("cpu", "forks_per_s", 1.0),
    "kernel.all.runnable": ("cpu", "run_queue", 1.0),
    "kernel.all.blocked": ("cpu", "blocked_tasks", 1.0),
    "kernel.all.pressure.cpu.some.total": ("cpu", "pressure_some_pct", 1e-4),  # microseconds
    "kernel.all.pressure.memory.some.total": ("memory", "pressure_some_pct", 1e-4),
    "kernel.all.pressure.memory.full.total": ("memory", "pressure_full_pct", 1e-4),
    "mem.physmem": ("memory", "total_bytes", KIB),
    "mem.util.free": ("memory", "free_bytes", KIB),
    "mem.util.available": ("memory", "available_bytes", KIB),
    "mem.util.anonpages": ("memory", "anon_bytes", KIB),
    "mem.util.pageTables": ("memory", "page_tables_bytes", KIB),
    "mem.util.shmem": ("memory", "shmem_bytes", KIB),
    "mem.util.swapTotal": ("memory", "swap_total_bytes", KIB),
    "mem.util.swapFree": ("memory", "swap_free_bytes", KIB),
    "mem.vmstat.pgpgin": ("memory", "page_in_kib_per_s", 1.0),
    "mem.vmstat.pgpgout": ("memory", "page_out_kib_per_s", 1.0),
    "mem.vmstat.pswpin": ("memory", "swap_in_per_s", 1.0),
    "mem.vmstat.pswpout": ("memory", "swap_out_per_s", 1.0),
    "mem.vmstat.pgmajfault": ("memory", "major_faults_per_s", 1.0),
    "disk.dev.read": ("disk", "reads_per_s", 1.0),
    "disk.dev.write": ("disk", "writes_per_s", 1.0),
    "disk.dev.read_bytes": ("disk", "read_bytes_per_s", KIB),
    "disk.dev.write_bytes": ("disk", "write_bytes_per_s", KIB),
    "disk.dev.avactive": ("disk", "util_pct", 0.1),  # milliseconds
    "disk.dev.aveq": ("disk", "queue", 1e-3),
    "network.interface.in.bytes": ("network", "rx_bytes_per_s", 1.0),
    "network.interface.out.bytes": ("network", "tx_bytes_per_s", 1.0),
    "network.interface.in.errors": ("network", "errors_per_s", 1.0),
    "network.interface.out.errors": ("network", "errors_per_s", 1.0),
    "network.tcp.outsegs": ("network", "segments_out_per_s", 1.0),
    "network.tcp.retranssegs": ("network", "retransmits_per_s", 1.0),
    "network.tcp.listendrops": ("network", "listen_drops_per_s", 1.0),
    "network.tcp.listenoverflows": ("network", "listen_overflows_per_s", 1.0),
    "network.tcp.currestab": ("network", "established", 1.0),
}
