"""What can be read from a latency map, in sentences."""

from doctord.analyse.latency.map import LatencyMap
from doctord.analyse.latency.modes import reading
from doctord.diagnose.common.spread import told
from doctord.report.phrases import said


def sentences(drawn: LatencyMap) -> list[str]:
    """The modes, outliers, bursts and shifts of a map, or why none can be told; a sentence each."""
    return [f"{said(one)}." for one in told(drawn, reading(drawn))]
