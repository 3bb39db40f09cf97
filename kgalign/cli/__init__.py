"""The command line: each command reads, calls and writes. Progress goes to stderr, results to files or, with --json, to stdout."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from kgalign.cli import align, bench, demo, inspection, merge, review, update
from kgalign.cli.failures import fail_inside, is_out_of_memory
from kgalign.cli.printing import INTERRUPTED, fail, is_interruption, show_log
from kgalign.drafts import reason_of
from kgalign.errors import DataError, KgalignError
from kgalign.version import __version__

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "align": align.align_command,
    "decode": align.decode,
    "evaluate": inspection.evaluate,
    "explain": inspection.explain,
    "update": update.update_command,
    "review": review.review,
    "merge": merge.merge,
    "info": inspection.info,
    "download": bench.download,
    "bench": bench.bench,
}
THRESHOLDS = "Each link in alignment.tsv has its probability: choose there, or with kgalign merge --least"
BROKEN_PIPE = 141  # as a shell has it
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
    """Runs the command line. Whatever happens, it ends with one line on stderr and an exit code of its own, see docs/command-line.md."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # names of files may be no UTF-8
    show_log()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    try:
        status = app(arguments, standalone_mode=False)
        if status == INTERRUPTED:
            raise KeyboardInterrupt
    except KgalignError as error:
        return fail(_message(arguments, error))
    except UsageProblem as error:
        hint = f" {THRESHOLDS}" if getattr(error, "option_name", None) in ("--threshold", "--min-score") else ""
        return fail(f"No such option: {error.option_name}.{hint}" if hint else error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        return fail("interrupted; nothing was written", INTERRUPTED)
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return BROKEN_PIPE  # the program that read our output has ended, and typer has ended this one
    except Exception as error:
        if isinstance(error, OSError) and not is_out_of_memory(error):
            return fail(f"{error.filename}: {reason_of(error)}" if error.filename else str(error))
        if is_interruption(error):
            return fail("interrupted; nothing was written", INTERRUPTED)
        return fail_inside(error)
    return status if isinstance(status, int) else 0


def _message(arguments: Sequence[str], error: KgalignError) -> str:
    """The message of an error. A command that reads the graphs of a run again has the limits of that run, and no option to raise them."""
    command = COMMANDS[next(each for each in arguments if each in COMMANDS)]
    if isinstance(error, DataError) and "limits" not in inspect.signature(command).parameters:
        return str(error.of_run())
    return str(error)
