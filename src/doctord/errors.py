"""The one way to refuse: what is wrong, and a hint what to do instead."""


class UserError(Exception):
    """Something cannot be done as asked. The command line prints message and hint, and ends with status 2."""

    def __init__(self, message: str, hint: str) -> None:
        """Say what is wrong, and what to do instead."""
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[type["UserError"], tuple[str, str]]:
        """How it is pickled: it may be of a process that worked for this one."""
        return type(self), (str(self), self.hint)
