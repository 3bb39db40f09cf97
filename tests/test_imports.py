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
    {"text", "search", "assignment", "calibrate", "relations", "features", "readers", "decode", "evaluate"},
    {"literals"},
    {"contradictions"},
    {"models", "datasets", "evidence"},
    {"explain", "report"},
    {"writers"},
    {"coordinate", "diagnose", "merge"},
    {"align"},
    {"bench"},
    {"cli"},
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
    block = "import sys; sys.modules['torch'] = None; import kgalign, kgalign.cli"
    subprocess.run([sys.executable, "-c", block], check=True)


def imported_modules(path):
    """The modules of kgalign that a file imports, but for those that only a type checker sees."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {id(node) for branch in ast.walk(tree) if is_for_types(branch) for node in ast.walk(branch)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in skipped and (node.module or "").startswith("kgalign."):
            yield node.module.split(".")[1]


def is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
