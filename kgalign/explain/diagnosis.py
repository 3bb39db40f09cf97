"""Why so few links were found, stage by stage, and what may help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph
from kgalign.features.text import SHARED_SCRIPT, fold, script_overlap, scripts

LITTLE = 0.02  # likely links for each entity that could have one
FEW_SEEDS = 20
CODE = 0.5  # a name with a smaller share of letters than this is a code, such as Q42
LOOKED_AT = 10_000  # names, at most


def is_little(task: AlignmentTask, alignment: Alignment) -> bool:
    """Whether so few links are likely that a user will ask why."""
    likely = int((alignment.scores > 0.5).sum())
    return not len(alignment) or likely < LITTLE * min(len(task.queries), len(task.pool))


def explain_little(task: AlignmentTask, alignment: Alignment) -> list[str]:
    """What each stage had to work with, a line each, and then a hint for each stage that had too little."""
    source, target = _names(task.source, task.queries), _names(task.target, task.pool)
    common = len({*map(fold, source)} & {*map(fold, target)} - {""})
    source_scripts, target_scripts = scripts(source), scripts(target)
    overlap = script_overlap(source_scripts, target_scripts)
    seen = [
        f"asked: {len(task.queries):,} of the source, {len(task.pool):,} of the target on offer, {len(task.seeds):,} seeds",
        f"names: {_name_text(source)} in the source, {_name_text(target)} in the target; {common:,} are the same on both sides",
        f"scripts: {_share_text(source_scripts)} and {_share_text(target_scripts)}"
        + ("" if overlap >= SHARED_SCRIPT else "; names were compared in Latin letters"),
        f"triples: {_triple_text(task.source)} in the source, {_triple_text(task.target)} in the target",
        f"decided: {len(alignment):,} links, {int((alignment.scores > 0.5).sum()):,} of them above 0.5",
    ]
    return seen + [f"hint: {hint}" for hint in _hints(task, source, target, overlap, common)]


def _hints(task: AlignmentTask, source: Sequence[str], target: Sequence[str], overlap: float, common: int) -> Iterable[str]:
    for side, names, graph in (("source", source, task.source), ("target", target, task.target)):
        if not _useful(names):
            yield (
                f"the names of the {side} are codes or missing: tell the property that holds them with --label, "
                f"or give a table of IRI and name with --names-{side}; kgalign info shows what was read"
            )
        elif graph.record.get("subjects with a label", 1.0) < 0.5:
            yield f"most of the {side} has no label, only IRIs: tell the property that holds the names with --label"
    if overlap < SHARED_SCRIPT:
        yield (
            "the names are in different scripts: take a common language with --lang, or give translations with --names-source, "
            "or a sentence encoder that knows both languages with --encoder"
        )
    elif not common and _useful(source) and _useful(target):
        yield "no name is the same on both sides: are they about the same things, and in one language? See --lang"
    if len(task.seeds) < FEW_SEEDS:
        yield f"{len(task.seeds)} seeds: a few dozen known links (--seeds) let the graphs speak for themselves"
    for side, graph in (("source", task.source), ("target", task.target)):
        if len(graph.triples) < 0.5 * len(graph.entities):
            yield f"the {side} has few triples between entities: neighbours tell little there"


def _names(graph: KnowledgeGraph, entities: Ints) -> list[str]:
    chosen = entities[:: max(1, len(entities) // LOOKED_AT)]
    return [graph.names[entity] for entity in chosen.tolist()]


def _useful(names: Sequence[str]) -> bool:
    return bool(names) and float(np.mean([not _is_code(name) for name in names])) >= 0.5


def _is_code(name: str) -> bool:
    return sum(map(str.isalpha, name)) < CODE * max(1, len(name))


def _name_text(names: Sequence[str]) -> str:
    codes = sum(map(_is_code, names))
    instance = next(iter(names), "")
    return f"{1 - codes / max(1, len(names)):.0%} readable (for instance {instance[:40]!r})"


def _share_text(shares: dict[str, float]) -> str:
    return ", ".join(f"{script} {share:.0%}" for script, share in list(shares.items())[:2]) or "no letters"


def _triple_text(graph: KnowledgeGraph) -> str:
    return f"{len(graph.triples):,} between {len(graph.entities):,} entities by {len(graph.relations):,} relations"
