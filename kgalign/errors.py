"""The errors that a user can put right.

KgalignError            catch this one to catch them all
├── DataError           a file or table is not as it should be; the message begins with path:line: where there is a line
└── OptionError         an option has a value that cannot be used, or a name that does not exist
"""

from numbers import Real

from kgalign.characters import shown

LONGEST_MESSAGE = 1000  # characters
CUT = " [...] "


class KgalignError(Exception):
    """Something that the user can put right; the message is one line and says how."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


class DataError(KgalignError):
    """A file or table is not as it should be.

    Attributes:
        found: What is wrong with it.
        limit: The limit that has to be raised to read it, such as `memory=20`. Empty: none.
    """

    def __init__(self, found: str = "", limit: str = "") -> None:
        super().__init__(f"{found}; if you trust it, set for instance `limits` {limit}" if limit else found)
        self.found, self.limit = found, limit

    def of_run(self) -> "DataError":
        """The error where the graphs of a run are read again, with the limits of that run: no option of the caller raises them."""
        return (
            DataError(f"{self.found}; if you trust it, align again with, for instance, `limits` {self.limit}")
            if self.limit
            else self
        )


class OptionError(KgalignError, ValueError):
    """An option has a value that cannot be used, or a name that does not exist."""


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    r"""The text on one line that is safe to print; its middle is cut out if it is long.

    >>> one_line("a\tb \x1b[31m"), one_line("x" * 99, longest=20)
    ('a b \\x1b[31m', 'xxxxxxx [...] xxxxxx')
    """
    if len(text) > 2 * longest:
        text = f"{text[:longest]} {text[-longest:]}"  # the middle would be cut out anyway
    return _cut(shown(" ".join(text.split())), longest)


def short_lines(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """The text with the middle of its long lines cut out."""
    return "\n".join(_cut(line, longest) for line in text.split("\n")) if len(text) > longest else text


def _cut(line: str, longest: int) -> str:
    if len(line) <= longest:
        return line
    kept = longest - len(CUT)
    return f"{line[: kept - kept // 2]}{CUT}{line[len(line) - kept // 2 :]}"


def check_at_least(**values: tuple[float, float]) -> None:
    """Refuses options that are below their least value; each is given as (value, least)."""
    for name, (value, least) in values.items():
        if not isinstance(value, Real) or not value >= least:
            raise OptionError(f"{name}={value}: expected {least} or more")
