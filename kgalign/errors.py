"""The errors that a user can put right.

KgalignError            catch this one to catch them all
├── DataError           a file or table is not as it should be; the message begins with path:line: where there is a line
└── OptionError         an option has a value that cannot be used, or a name that does not exist
"""


class KgalignError(Exception):
    """Something that the user can put right; the message is one line and says how."""


class DataError(KgalignError):
    """A file or table is not as it should be."""


class OptionError(KgalignError, ValueError):
    """An option has a value that cannot be used, or a name that does not exist."""


def check_at_least(**values: tuple[float, float]) -> None:
    """Refuses options that are below their least value; each is given as (value, least)."""
    for name, (value, least) in values.items():
        if not value >= least:
            raise OptionError(f"{name}={value}: expected {least} or more")
