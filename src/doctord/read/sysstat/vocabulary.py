"""The names of sar, in the dataset's terms, as the native scanner has them."""

from collections.abc import Mapping

from doctord._native import SarVocabulary
from doctord.read.sysstat.activities import ACTIVITIES
from doctord.read.sysstat.sections import SECTIONS

# Columns that say what a line is about.
ITEMS = frozenset(
    "CPU cpu INTR TTY DEV device IFACE FCHOST FILESYSTEM MOUNTPOINT BUS FAN TEMP IN BAT".split()  # noqa: SIM905 - as sar prints them
)
WORDS = frozenset({"DEVICE", "device", "status"})  # columns that hold no figures
# Units that a column's name does not tell by its beginning or end, and whether it is a rate.
UNITS: Mapping[str, tuple[str | None, str]] = {
    "tps": ("per_s", "rate"),
    "rtps": ("per_s", "rate"),
    "wtps": ("per_s", "rate"),
    "dtps": ("per_s", "rate"),
    "sect/s": ("sectors_per_s", "rate"),
    "blks/s": ("sectors_per_s", "rate"),
    "Kbs/s": ("KiB_per_s", "rate"),
    "svctm": ("ms", "gauge"),
    "cap/min": ("pct_per_min", "gauge"),
    "MHz": ("MHz", "gauge"),
    "wghMHz": ("MHz", "gauge"),
    "degC": ("degC", "gauge"),
    "inV": ("V", "gauge"),
}

VOCABULARY = SarVocabulary(ACTIVITIES, SECTIONS, ITEMS, WORDS, UNITS)
