"""What can go wrong in the lab that is not a fault of its own making."""

from doctord.errors import UserError


class LabError(UserError):
    """The lab cannot work here: what is missing, and a hint what to do."""


class UnavailableError(Exception):
    """This fault cannot be injected here (no root, no control group); the others can."""
