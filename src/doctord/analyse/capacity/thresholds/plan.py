"""What to do when a limit is passed, written down while all is well."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doctord.errors import UserError
from doctord.units import parse_duration


@dataclass(frozen=True, slots=True)
class Plan:
    """An action plan.

    Attributes:
        text: What to do.
        owner: Who does it.
        lead_s: Seconds that it takes from deciding until it helps; null where nobody said.
    """

    text: str = ""
    owner: str = ""
    lead_s: float | None = None


NO_PLAN = Plan()


def plan_of(given: object, where: str) -> Plan:
    """The plan of a TOML table: text, owner, lead (a duration).

    Raises:
        UserError: a key is unknown or is no text; the message begins with `where`.
    """
    if not isinstance(given, Mapping):
        raise UserError(
            f"{where}: plan is {given!r}, no table", 'write plan = { text = "...", owner = "dba", lead = "14d" }'
        )
    values: Mapping[str, Any] = given
    if unknown := values.keys() - {"text", "owner", "lead"}:
        raise UserError(f"{where}: plan has no key {sorted(unknown)[0]!r}", "keys are text, owner, lead")
    for key, value in values.items():
        if not isinstance(value, str):
            raise UserError(f"{where}: plan: {key} is {value!r}, no text", f'write {key} = "..."')
    try:
        lead_s = parse_duration(values["lead"]) if "lead" in values else None
    except UserError as refusal:
        raise UserError(f"{where}: plan: lead: {refusal}", refusal.hint) from refusal
    return Plan(values.get("text", ""), values.get("owner", ""), lead_s)
