"""Sections of sadf's JSON, and how sar's text calls their figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """One section.

    Attributes:
        mark: A column by which its activity is known.
        pattern: How sar's text calls a figure, `{}` being its key; a share (`vmeff-percent`) is `%vmeff` always.
        named: Figures that the text calls otherwise.
        items: Keys that say what a line is about.
        left_out: Keys that repeat another in another unit.
    """

    mark: str
    pattern: str = "{}/s"
    named: Mapping[str, str] = field(default_factory=dict)
    items: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def _same(*keys: str) -> dict[str, str]:
    return {key: key for key in keys}


def _pressure(of: str) -> Section:
    spans = {"avg10": "-10", "avg60": "-60", "avg300": "-300", "avg": ""}
    named = {f"{kind}_{span}": f"%{kind[0]}{of}{end}" for kind in ("some", "full") for span, end in spans.items()}
    return Section(f"%s{of}", named=named)


_CPU = Section("%usr", "%{}", items=("cpu",))
_FREQUENCY = {"frequency": "MHz", "weighted-frequency": "wghMHz"}
_MEMORY = {
    "inactive": "kbinact",
    "shared": "kbshmem",
    **{key: f"{key}/s" for key in ("frmpg", "shmpg", "bufpg", "campg")},
}

SECTIONS: Mapping[str, Section] = {
    "cpu-load": _CPU,
    "cpu-load-all": _CPU,
    "process-and-context-switch": Section("proc/s"),
    "processes": Section("proc/s"),
    "context-switch": Section("proc/s"),
    "interrupts": Section("INTR", "{}", {"value": "all"}, ("intr",)),
    "swap-pages": Section("pswpin/s"),
    "paging": Section("pgpgin/s"),
    "io": Section("tps", named=_same("tps", "rtps", "wtps", "dtps")),
    "memory": Section("kbmemfree", "kb{}", _MEMORY),
    "hugepages": Section("kbhugfree", "kb{}"),
    "kernel": Section("dentunusd", "{}"),
    "queue": Section("runq-sz", "{}"),
    "serial": Section("rcvin/s", items=("line",)),
    "disk": Section(
        "tps",
        named=_same("tps", "avgrq-sz", "areq-sz", "avgqu-sz", "aqu-sz", "await", "svctm"),
        items=("disk-device",),
        left_out=("dc_sec",),
    ),
    "net-dev": Section("rxpck/s", items=("iface",)),
    "net-edev": Section("rxerr/s", items=("iface",)),
    "net-nfs": Section("call/s"),
    "net-nfsd": Section("badcall/s"),
    "net-sock": Section("totsck", "{}"),
    "net-sock6": Section("tcp6sck", "{}"),
    "net-tcp": Section("active/s"),
    "net-etcp": Section("atmptf/s"),
    **{f"net-{name}": Section("irec/s") for name in ("ip", "eip", "icmp", "eicmp", "udp")},
    **{f"net-{name}6": Section("irec6/s") for name in ("ip", "eip", "icmp", "eicmp", "udp")},
    "softnet": Section("dropd/s", named=_same("blg_len"), items=("cpu",)),
    "cpu-frequency": Section("MHz", "{}", _FREQUENCY, ("number",)),
    "cpu-weighted-frequency": Section("wghMHz", "{}", _FREQUENCY, ("number",)),
    "fan-speed": Section("rpm", "{}", items=("number",)),
    "temperature": Section("degC", "{}", items=("number",)),
    "voltage-input": Section("inV", "{}", items=("number",)),
    "battery": Section("%cap", "{}", {"percent-capacity": "%cap", "variation": "cap/min"}, ("number",)),
    "usb-devices": Section("idvendor", "{}"),
    "filesystems": Section("MBfsfree", "{}", items=("filesystem", "mountp")),
    "fchosts": Section("fch_rxf/s", items=("fchost",)),
    "psi-cpu": _pressure("cpu"),
    "psi-io": _pressure("io"),
    "psi-mem": _pressure("mem"),
}
