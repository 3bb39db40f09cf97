"""What `kgalign info` shows of a graph: its sizes, its names, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kgalign.cli.compiling import COMPILES, is_compiled
from kgalign.cli.printing import with_flags
from kgalign.data import INDIVIDUAL, KINDS, KnowledgeGraph
from kgalign.features.words import fold
from kgalign.iri import is_iri, normal_iri
from kgalign.plan import Plan
from kgalign.progress import duration
from kgalign.readers.schema import with_kinds

MOST_CLASSES = 12  # that are shown on a terminal
PLURALS = dict(zip(KINDS, ("individuals", "classes", "properties", "concepts"), strict=True))
BY_CLASS = "names by class"
OF_INDIVIDUALS = "individuals with a label"


def describe(graph: KnowledgeGraph) -> dict[str, Any]:
    """The facts of a graph that matter before it is aligned."""
    linked = np.unique(graph.triples[:, [0, 2]])
    kinds = np.bincount(with_kinds(graph).kinds, minlength=len(KINDS)).tolist()
    often = np.bincount(graph.names.owner, minlength=len(graph.entities))
    shown = [name for name in map(fold, graph.names) if name]
    return {
        "entities": len(graph.entities),
        **dict(zip(PLURALS.values(), kinds, strict=True)),
        "relations": len(graph.relations),
        "triples": len(graph.triples),
        "literals": len(graph.attributes.values),
        "entities without triples": len(graph.entities) - len(linked),
        "entities without a name": int((often == 0).sum()),
        "names": len(graph.names.text),
        "entities with several names": int((often > 1).sum()),
        "names that several share": len(shown) - len(set(shown)),
        "names in Latin letters": f"{sum(map(str.isascii, shown)) / max(1, len(shown)):.0%}",
        "for instance": "; ".join([name for name in graph.names if name][:3]),
        **{
            key: f"{value:.0%}" if isinstance(value, float) else value
            for key, value in graph.record.items()
            if key != OF_INDIVIDUALS or kinds[INDIVIDUAL]
        },
    }


def plan_lines(plan: Plan, reading: float) -> dict[str, str]:
    """What a run will take, in words."""
    times = dict.fromkeys(map(duration, plan.seconds))
    time = " to ".join(times) if len(times) > 1 else f"about {next(iter(times))}"
    free = "" if plan.free_mb is None else f"; {plan.free_mb / 1024:.1f} GiB are free"
    threads = "1 thread" if plan.cores == 1 else f"{plan.cores} threads"
    where = "of one process" if plan.engine == "local" else "here, and those of other machines"
    return {
        "reading": duration(reading),
        "time after reading": time if is_compiled() else f"{time}; {COMPILES}",
        "memory": f"about {plan.memory_mb / 1024:.1f} GiB{free}",
        "engine": f"{plan.engine}: {threads} {where}",
        "speed of this machine": f"{plan.speed:.2f} of the one that the estimates were measured on",
        **({"advice": with_flags(plan.advice)} if plan.advice else {}),
    }


def same_iris(source: KnowledgeGraph, target: KnowledgeGraph) -> int:
    """How many IRIs both graphs have. Ids of tables are none: each table has its own."""
    one, other = ({normal_iri(iri) for entity in graph.entities if is_iri(iri := entity.strip("<>"))} for graph in (source, target))
    return len(one & other)


def naming_lines(graph: KnowledgeGraph) -> Iterator[str]:
    """The lines that say for each class which properties hold names, which do not, and why."""
    classes = graph.record.get(BY_CLASS, ())
    for each in classes[:MOST_CLASSES]:
        yield f"  {each['class']}: {each['subjects']:,} {'subject' if each['subjects'] == 1 else 'subjects'}"
        yield f"    names: {'; '.join(each['names']) or 'no property holds them'}"
        if each["no names"]:
            yield f"    no names: {'; '.join(each['no names'])}"
    if len(classes) > MOST_CLASSES:
        yield f"  and {len(classes) - MOST_CLASSES:,} more classes (--json shows all)"
    if not len(graph.names.text):
        yield "  no entity has a name: no property holds names, and the IRIs end in codes"
