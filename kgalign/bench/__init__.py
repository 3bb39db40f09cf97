"""Benchmarks that users run: the paper's tables and our own, each made from lines in a file of results.

for line in TABLES["table2"].measure(Plan(Path("data"), Path("results.jsonl"), models=["fast"])):
    print(line["system"], line["metrics"]["hits@1"])
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from kgalign.bench import ablation as ablations
from kgalign.bench import real as real_graphs
from kgalign.bench import review as reviews
from kgalign.bench import seed_rows
from kgalign.bench.equal_names import EQUAL_NAMES
from kgalign.bench.peers import PEERS, peers
from kgalign.bench.plan import Plan
from kgalign.bench.quick import quick
from kgalign.bench.results import Line, read_lines
from kgalign.bench.summary import summarise
from kgalign.bench.sweeps import TABLE3_MODELS, TABLE4_MODELS, table3, table4
from kgalign.bench.systems import find_systems
from kgalign.bench.table2 import table2
from kgalign.errors import OptionError
from kgalign.features.text import check_word_vectors
from kgalign.models import DEFAULT, MODELS, make_model

__all__ = ["TABLES", "BenchTable", "Plan", "check", "planned_lines"]


def dataset_pairs(plan: Plan) -> set[str]:
    """The names of the planned datasets."""
    return {dataset.pair for dataset in plan.datasets}


@dataclass(frozen=True)
class BenchTable:
    """A table that `kgalign bench` can make.

    Attributes:
        measure: Measures the missing lines of a plan, one by one.
        experiments: The experiments that its lines belong to.
        models: The models that it has rows for, if the plan names none.
        accepts: Whether it can have rows for a model.
        pairs: The names of the datasets of a plan, which must be there.
        figure: The figure that is shown as soon as a line is measured.
        summarise: The header and the rows that show lines.
        seeds: The random seeds, if none are given.
    """

    measure: Callable[[Plan], Iterator[Line]]
    experiments: tuple[str, ...]
    models: Collection[str]
    accepts: Callable[[str], bool] = MODELS.__contains__
    pairs: Callable[[Plan], Collection[str]] = dataset_pairs
    figure: str = "hits@1"
    summarise: Callable[[Sequence[Line], Plan], tuple[list[str], list[list[str]]]] = lambda lines, _: summarise(lines)
    seeds: tuple[int, ...] = (0, 1, 2)


TABLES = {
    "table2": BenchTable(table2, ("table2",), MODELS),
    "table3": BenchTable(table3, ("table3",), TABLE3_MODELS),
    "table4": BenchTable(table4, ("table4",), TABLE4_MODELS),
    "ablation": BenchTable(ablations.ablation, ablations.EXPERIMENTS, ablations.ABLATION_MODELS, ablations.has_ablation),
    "peers": BenchTable(peers, tuple(PEERS), PEERS, PEERS.__contains__),
    seed_rows.EXPERIMENT: BenchTable(seed_rows.measure_seeds, (seed_rows.EXPERIMENT,), (DEFAULT,), (DEFAULT,).__contains__),
    "quick": BenchTable(quick, ("quick",), MODELS, seeds=(0,)),
    real_graphs.REAL: BenchTable(
        real_graphs.real,
        (real_graphs.REAL,),
        (DEFAULT,),
        pairs=real_graphs.real_pairs,
        figure="f1",
        summarise=lambda lines, plan: real_graphs.summarise_sets(lines, plan.swap),
        seeds=(0,),
    ),
    reviews.REVIEW: BenchTable(
        reviews.review,
        (reviews.REVIEW,),
        (DEFAULT,),
        pairs=reviews.review_sets,
        figure="f1",
        summarise=lambda lines, _: reviews.summarise_reviews(lines),
    ),
}


def check(table: str, plan: Plan) -> None:
    """Refuses a plan that cannot be measured before anything is measured: its models, its data, the values of its options."""
    own = TABLES[table]
    for model in plan.models:
        if not own.accepts(model):
            raise OptionError(f"the table {table} has no rows for the model {model}: expected some of {', '.join(own.models)}")
    own.pairs(plan)
    for system in find_systems(plan, own.models):
        make_model(system.model, **system.options)
        make_model(system.model, **system.plain.options)
        check_word_vectors(system.options)


def planned_lines(table: str, plan: Plan) -> list[Line]:
    """The lines of a table in the file that belong to the plan's pairs, seeds and models."""
    pairs = TABLES[table].pairs(plan)
    found = [line for name in TABLES[table].experiments for line in read_lines(plan.results, name)] if plan.results else []
    return [line for line in found if line["pair"] in pairs and line["seed"] in plan.seeds and _is_of(line, plan.models)]


def _is_of(line: Line, models: Collection[str]) -> bool:
    """Whether a line belongs to one of the models; to any, if none is named. The baselines belong to every model."""
    model = line["options"].get("model", line["experiment"])
    return not models or model in models or line["system"].endswith((ablations.BASELINE_ONLY, EQUAL_NAMES))
