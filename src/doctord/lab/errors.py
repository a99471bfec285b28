"""What can go wrong in the lab that is not a fault of its own making."""


class LabError(Exception):
    """The lab cannot work here: what is missing, and a hint what to do."""

    def __init__(self, message: str, hint: str) -> None:
        """Say what is missing, and what to do."""
        super().__init__(message)
        self.hint = hint


class UnavailableError(Exception):
    """This fault cannot be injected here (no root, no control group); the others can."""
