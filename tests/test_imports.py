"""Imports point one way, and the public face is what it says."""

import ast
import subprocess
import sys
from pathlib import Path

import kgalign

PACKAGE = Path(kgalign.__file__).parent
LAYERS = (
    {"errors"},
    {"data", "files"},
    {
        "text",
        "encoders",
        "search",
        "assignment",
        "proposals",
        "calibrate",
        "relations",
        "features",
        "readers",
        "decode",
        "evaluate",
    },
    {"literals"},
    {"contradictions"},
    {"models", "datasets", "evidence"},
    {"explain", "report"},
    {"writers"},
    {"coordinate", "diagnose", "merge"},
    {"align"},
    {"bench"},
    {"cli"},
    {"__main__"},
)


def test_public_names_exist():
    assert all(hasattr(kgalign, name) for name in kgalign.__all__)
    assert len(set(kgalign.__all__)) == len(kgalign.__all__)


def test_imports_point_one_way():
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if module == "__init__":
            continue
        for imported in imported_modules(path):
            assert level[imported] <= level[module], f"{path.name} imports kgalign.{imported}"


def test_neural_code_is_not_needed_to_import():
    run_without(("torch",), "import kgalign, kgalign.cli")


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
        ("pyoxigraph", "pyarrow", "typer", "rich", "anyascii", "jinja2", "matplotlib"),
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


def run_without(blocked, *lines, arguments=()):
    """Runs the lines in a process of its own where the blocked packages are not installed."""
    refuse = f"import sys; sys.modules.update(dict.fromkeys({blocked}))"
    subprocess.run([sys.executable, "-c", "\n".join((refuse, *lines)), *map(str, arguments)], check=True)


def imported_modules(path):
    """The modules of kgalign that a file imports, but for those that only a type checker sees."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {id(node) for branch in ast.walk(tree) if is_for_types(branch) for node in ast.walk(branch)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in skipped and (node.module or "").startswith("kgalign."):
            yield node.module.split(".")[1]


def is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
