"""Errors a user can act on.

Every error that bad input can cause is an `InputError`; the command line prints it without a
traceback and exits with status 2. Anything else that escapes is a bug and keeps its traceback.
"""


class InputError(Exception):
    """Something the user gave cannot be used.

    Parameters
    ----------
    what : str
        One sentence that says what is wrong.
    where : str, optional
        File, and the row, key or column in it.
    found, expected : str, optional
        What stands there, and what should.
    todo : str, optional
        What the user can do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        todo: str | None = None,
    ) -> None:
        self.what = what
        self.where = where
        self.found = found
        self.expected = expected
        self.todo = todo
        lines = [what]
        for name, text in (
            ("where", where),
            ("found", found),
            ("expected", expected),
            ("to do", todo),
        ):
            if text is not None:
                lines.append(f"  {name + ':':<10}{text}")
        super().__init__("\n".join(lines))
