"""The JSON document of an examination of settings, as docs/reference/json.md explains it."""

from dataclasses import asdict
from typing import Any

from doctord.lint.engine import Examined
from doctord.lint.remark import Remark
from doctord.lint.setting import Setting
from doctord.report.diagnosis.document import evidence, unseen


def document(examined: Examined) -> dict[str, Any]:
    """What was looked at, the remarks, worst first, and those that a baseline accepts, with its reason."""
    return {
        "looked_at": list(examined.looked_at),
        "remarks": [_remark(one) for one in examined.remarks],
        "accepted": [{**_remark(one), "reason": reason} for one, reason in examined.accepted],
    }


def _remark(remark: Remark) -> dict[str, Any]:
    told = asdict(remark)
    told["evidence"] = [evidence(item) for item in remark.evidence]
    told["unseen"] = [unseen(item) for item in remark.unseen]
    told["severity"] = remark.severity.word
    told["settings"] = [_setting(one) for one in remark.settings]
    return told


def _setting(setting: Setting) -> dict[str, Any]:
    names = ("component", "db", "instance", "name", "value", "unit", "source", "file", "line", "column")
    return {name: getattr(setting, name) for name in names}
