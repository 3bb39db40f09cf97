"""The command line: each command reads, calls and writes. Progress goes to stderr, results to files or, with --json, to stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from kgalign.cli import align, bench, demo, inspection, merge
from kgalign.cli.printing import INTERRUPTED, check_interrupted, fail, show_log
from kgalign.errors import KgalignError
from kgalign.version import __version__

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "align": align.align_command,
    "decode": align.decode,
    "evaluate": inspection.evaluate,
    "explain": inspection.explain,
    "merge": merge.merge,
    "info": inspection.info,
    "download": bench.download,
    "bench": bench.bench,
}
UsageProblem: type[Any] = typer.BadParameter.__mro__[2]  # the class of every usage error; typer does not name it

app = typer.Typer(
    help="Find which entities of two knowledge graphs are the same thing.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for name, command in COMMANDS.items():
    app.command(name)(command)


@app.callback(invoke_without_command=True)
def start(context: typer.Context, version: Annotated[bool, typer.Option("--version", help="print the version")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Runs the command line. A user's mistake is one line on stderr and exit 2."""
    show_log()
    try:
        status = app(standalone_mode=False)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
    except (KgalignError, OSError) as error:
        status = fail(str(error))
    except UsageProblem as error:
        status = fail(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        status = fail("interrupted; nothing was written", INTERRUPTED)
    except SystemError as error:
        check_interrupted(error)
        status = fail("interrupted; nothing was written", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)
