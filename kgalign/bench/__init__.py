"""Benchmarks: the paper's tables and our own, each made of lines in a file of results.

for line in TABLES["table2"].measure(Plan(Path("data"), Path("results.jsonl"), models=["fast"])):
    print(line["system"], line["metrics"]["hits@1"])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from kgalign.bench.ablation import ABLATIONS, ablation
from kgalign.bench.peers import PEERS, peers
from kgalign.bench.plan import Plan, find_datasets
from kgalign.bench.quick import quick
from kgalign.bench.results import Line, read_lines
from kgalign.bench.sweeps import TABLE3_MODELS, TABLE4_MODELS, table3, table4
from kgalign.bench.systems import find_systems
from kgalign.bench.table2 import table2
from kgalign.errors import OptionError
from kgalign.models import MODELS, make_model
from kgalign.features.text import check_word_vectors

__all__ = ["TABLES", "BenchTable", "Plan", "check", "planned_lines"]


@dataclass(frozen=True)
class BenchTable:
    """A table that can be asked for.

    measure         the lines of a plan that are missing, one by one
    experiments     that its lines are of
    models          that it has rows of, unless others are planned
    any_model       whether others can be
    """

    measure: Callable[[Plan], Iterator[Line]]
    experiments: tuple[str, ...]
    models: Collection[str]
    any_model: bool = True


TABLES = {
    "table2": BenchTable(table2, ("table2",), MODELS),
    "table3": BenchTable(table3, ("table3",), TABLE3_MODELS),
    "table4": BenchTable(table4, ("table4",), TABLE4_MODELS),
    "ablation": BenchTable(ablation, ("ablation", "gm_options_dev", "gm_options", "gm_all_entities"), ABLATIONS, False),
    "peers": BenchTable(peers, ("names", "fast"), PEERS, False),
    "quick": BenchTable(quick, ("quick",), MODELS),
}


def check(table: str, plan: Plan) -> None:
    """Refuses what cannot be measured before anything is: models that the table has no rows of, data, values of options."""
    own = TABLES[table]
    for model in plan.models:
        if not own.any_model and model not in own.models:
            raise OptionError(f"the table {table} has no rows of the model {model}: expected some of {', '.join(own.models)}")
    find_datasets(plan.data, plan.pairs, plan.folds)
    for system in find_systems(plan, own.models):
        make_model(system.model, **system.options)
        make_model(system.model, **system.plain.options)
        check_word_vectors(system.options)


def planned_lines(table: str, plan: Plan) -> list[Line]:
    """The lines of a table in the file that are of the plan's pairs, seeds and models."""
    pairs = {dataset.pair for dataset in plan.datasets}
    found = [line for name in TABLES[table].experiments for line in read_lines(plan.results, name)] if plan.results else []
    return [line for line in found if line["pair"] in pairs and line["seed"] in plan.seeds and _is_of(line, plan.models)]


def _is_of(line: Line, models: Collection[str]) -> bool:
    """Whether a line is of one of the models; any will do where none is named."""
    return not models or line["options"].get("model", line["experiment"]) in models
