"""Imports point one way, and the public face is what it says."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import kgalign

PACKAGE = Path(kgalign.__file__).parent
ROOMS = (  # lowest first; a room may import those of its own line and of the lines above it
    {"arrow_files", "blocks", "characters", "errors", "notebook", "parallel", "progress", "version"},
    {"data", "limits", "registry"},
    {"engines", "services", "unpacking"},
    {"drafts", "decisions", "files", "iri", "language_tags", "matrices", "seams"},
    {"features", "search"},
    {"decoding"},
    {"reasoning"},
    {"readers", "models"},
    {"datasets", "evaluate"},
    {"explain"},
    {"writers"},
    {"runs"},
    {"merge"},
    {"pace", "plan"},
    {"align"},
    {"review", "update"},
    {"bench"},
    {"serve"},
    {"cli"},
    {"__main__"},
)
POSIX_ONLY = ("resource", "fcntl", "pwd", "grp", "termios", "tty", "pty")


def test_all_public_names_are_listed_and_nothing_else():
    public = {
        name
        for name, value in vars(kgalign).items()
        if not name.startswith("_") and not (inspect.ismodule(value) and value.__name__.startswith("kgalign."))
    }
    assert public | {"__version__"} == set(kgalign.__all__)
    assert len(set(kgalign.__all__)) == len(kgalign.__all__)


def test_imports_point_one_way():
    """Imports for type checking alone count too: they would hide circles."""
    level = {name: number for number, rooms in enumerate(ROOMS) for name in rooms}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for imported in imported_rooms(path):
            assert level[imported] <= level[room], f"{path.relative_to(PACKAGE)} imports kgalign.{imported}"


def test_rooms_of_one_line_do_not_import_each_other():
    found = {
        (path.relative_to(PACKAGE).parts[0].removesuffix(".py"), imported)
        for path in PACKAGE.rglob("*.py")
        for imported in imported_rooms(path)
    }
    for rooms in ROOMS:
        circles = [(one, other) for one, other in found if one != other and {one, other} <= rooms and (other, one) in found]
        assert not circles


def test_no_capability_is_found_out_by_trying():
    models = [*PACKAGE.glob("models/**/*.py"), *PACKAGE.glob("reasoning/*.py"), *PACKAGE.glob("bench/*.py"), PACKAGE / "align.py"]
    assert [path for path in models if "hasattr(" in path.read_text("utf-8")] == []


def test_no_graph_is_kept_in_a_cache_of_a_module():
    cached = [path for path in PACKAGE.rglob("*.py") if "lru_cache" in path.read_text("utf-8")]
    assert cached == []


def test_neural_code_is_not_needed_to_import():
    run_without(("torch",), "import kgalign, kgalign.cli")


def test_modules_of_posix_are_not_needed_to_align_and_write(tmp_path):
    lines = ("import kgalign, kgalign.cli", "run = kgalign.align(*kgalign.demo())", "run.write(sys.argv[1])")
    run_without(POSIX_ONLY, *lines, arguments=[tmp_path / "run"])


def test_numbers_alone_are_enough_to_read_align_and_plan_benchmarks(tmp_path):
    """A machine with a GPU often has numpy, scipy, numba and torch, and nothing else can be installed there."""
    for name, text in {
        "ent_ids_1": "0\thttp://fr/Rome\n1\thttp://fr/Italie\n",
        "ent_ids_2": "2\thttp://en/Rome\n3\thttp://en/Italy\n",
        "triples_1": "0\t0\t1\n",
        "triples_2": "2\t0\t3\n",
        "ref_ent_ids": "0\t2\n1\t3\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    run_without(
        ("pyoxigraph", "pyarrow", "typer", "rich", "anyascii", "threadpoolctl", "jinja2", "matplotlib"),
        "import sys",
        "import kgalign",
        "from kgalign.bench import TABLES, Plan",
        "assert len(kgalign.read(sys.argv[1])[0].source.entities) == 2  # a folder as DBP15K has them",
        "task, gold = kgalign.demo()  # and one as OpenEA has them",
        "for model in ('names', 'fast'):",
        "    assert kgalign.align(task, gold, model=model).metrics['hits@1'] > 0.5",
        arguments=[tmp_path],
    )


def test_help_imports_nothing_that_is_slow():
    slow = ("numba", "scipy.sparse", "scipy.optimize", "pyarrow", "pyoxigraph", "jinja2", "torch", "urllib.request")
    run_without(slow, "from kgalign.cli import main", "main()", arguments=["--help"])
    run_without(slow, "from kgalign.cli import main", "main()", arguments=["align", "--help"])


def run_without(blocked, *lines, arguments=()):
    """Runs the lines in a process of its own where the blocked packages are not installed."""
    refuse = f"import sys; sys.modules.update(dict.fromkeys({blocked}))"
    subprocess.run([sys.executable, "-c", "\n".join((refuse, *lines)), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def imported_rooms(path):
    """The rooms of kgalign that a file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kgalign."):
            yield node.module.split(".")[1]
