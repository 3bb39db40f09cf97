"""Commands in the process of the test, which is quicker than a process for each; and two small graphs for them."""

import json

from kgalign.cli import run

QUICK = ("--model", "names", "--max-rounds", "0")


def command(*arguments):
    """The exit code of a command."""
    return run([str(argument) for argument in arguments])


def refused(capsys, *arguments):
    """The one line in which a command refuses its input."""
    capsys.readouterr()
    assert command(*arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    complaint = [line for line in shown.err.splitlines() if line.startswith("kgalign: ")]
    assert len(complaint) == 1, shown.err
    assert shown.err.endswith(f"{complaint[0]}\n")
    return complaint[0]


def write_pair(folder):
    """Two tables of triples."""
    (folder / "left.tsv").write_text("Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\n", "utf-8")
    (folder / "right.tsv").write_text("Roma\tcapitale\tItalia\nParis\tcapitale\tFrance\n", "utf-8")


def align_pair(folder, *options):
    """A run of the two tables in the folder `run`."""
    write_pair(folder)
    assert command("align", folder / "left.tsv", folder / "right.tsv", "-o", folder / "run", *QUICK, *options) == 0
    return folder / "run"


def changed_report(run, change):
    """Writes run.json after a change to its content."""
    path = run / "run.json"
    report = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(change(report)), "utf-8")
