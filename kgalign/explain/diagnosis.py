"""Diagnosis of a run with few links: what each stage had to work with, and hints what may help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Ints, KnowledgeGraph
from kgalign.decoding.decoders import greedy
from kgalign.features.text import SHARED_SCRIPT, script_overlap, scripts
from kgalign.features.words import fold
from kgalign.iri import local_name
from kgalign.reasoning import HeldOut

FEW_LINKS = 0.02  # plausible links for each entity that could have one
FEW_SEEDS = 20
FEW_FOUND = 0.2  # of the held-out seeds
PLAUSIBLE = 0.5
CODE = 0.5  # a name with a smaller share of letters than this is a code, such as Q42
MOST_NAMES = 10_000  # entities; a larger graph is sampled
MOST_LITERALS = 3  # that a hint lists


def has_few_links(task: AlignmentTask, alignment: Alignment) -> bool:
    """Whether so few links are plausible that a user will ask why."""
    plausible = int((alignment.scores > PLAUSIBLE).sum())
    return not len(alignment) or plausible < FEW_LINKS * min(len(task.queries), len(task.pool))


def diagnose(task: AlignmentTask, alignment: Alignment, held_out: HeldOut | None = None) -> list[str]:
    """A line for each stage about what it had to work with, then a hint for each stage that had too little.

    Args:
        task: What was aligned.
        alignment: The links that were found.
        held_out: The held-out seeds and their candidates, if some were held out.
    """
    source, target = _names(task.source, task.queries), _names(task.target, task.pool)
    all_source, all_target = ([name for own in side for name in own] for side in (source, target))
    common = len({*map(fold, all_source)} & {*map(fold, all_target)} - {""})
    source_scripts, target_scripts = scripts(all_source), scripts(all_target)
    overlap = script_overlap(source_scripts, target_scripts)
    plausible = int((alignment.scores > PLAUSIBLE).sum())
    stages = [
        f"task: {len(task.queries):,} queries, {len(task.pool):,} entities in the candidate pool, {len(task.seeds):,} seeds",
        f"names: {_name_text(source)} in the source, {_name_text(target)} in the target; names in both: {common:,}",
        f"scripts: {_share_text(source_scripts)} in the source, {_share_text(target_scripts)} in the target"
        + ("" if overlap >= SHARED_SCRIPT else "; names were compared in Latin letters"),
        f"triples: {_triple_text(task.source)} in the source, {_triple_text(task.target)} in the target",
        f"links: {len(alignment):,}, {plausible:,} of them with a probability above {PLAUSIBLE}",
    ]
    hints = [*_hints(task, source, target, overlap, common)]
    if held_out is not None:
        found = _found_again(held_out)
        stages.append(
            f"check: {found:,} of {len(held_out.links):,} held-out seeds were found again, with a probability above {PLAUSIBLE}"
        )
        if found < FEW_FOUND * len(held_out.links):
            hints.append(
                "few held-out seeds were found again, though each has a match: give seeds of all kinds of entities, not only of those with "
                "the most neighbours or of one class; more of them help too"
            )
    return stages + [f"hint: {hint}" for hint in hints]


def _found_again(held_out: HeldOut) -> int:
    """How many held-out seeds have their match as the best candidate, with a plausible probability."""
    best = greedy(held_out.candidates)
    return int(np.isin(held_out.links.keys, best.keys[best.scores > PLAUSIBLE]).sum())


def _hints(
    task: AlignmentTask, source: Sequence[Sequence[str]], target: Sequence[Sequence[str]], overlap: float, common: int
) -> Iterable[str]:
    if not len(task.queries) or not len(task.pool):
        yield f"no entity of the {'target' if len(task.queries) else 'source'} is left to be aligned: `seeds` give the matches of all"
        return
    for side, names, graph in (("source", source, task.source), ("target", target, task.target)):
        if not _readable(names):
            yield (
                f"the names of the {side} are codes or missing: name the property that holds the names with `labels`, "
                f"or give a table of IRI and name with `names_{side}`"
            )
        elif graph.record.get("individuals with a label", 1.0) < 0.5:
            yield (
                f"most entities of the {side} have no label, only an IRI: name the property that holds the names with `labels`"
                + _unnamed_text(graph)
            )
    if overlap < SHARED_SCRIPT:
        yield (
            "the names are in different scripts: give translations with `names_source`, or a sentence encoder that knows both languages "
            "with `encoder`; without `languages`, names in all languages are compared"
        )
    elif not common and _readable(source) and _readable(target):
        yield (
            "no name is in both graphs: check that they describe the same things; if their languages differ, give translations with "
            "`names_source`, or a sentence encoder that knows both languages with `encoder`"
        )
    if len(task.seeds) < min(FEW_SEEDS, len(task.queries)):
        given = "there is 1 seed" if len(task.seeds) == 1 else f"there are {len(task.seeds)} seeds"
        yield f"{given}: with a few dozen links given as `seeds`, neighbours become evidence"
    for side, graph in (("source", task.source), ("target", task.target)):
        if len(graph.triples) < 0.5 * len(graph.entities):
            yield f"the {side} has few triples between entities, so neighbours are little evidence"


def _names(graph: KnowledgeGraph, entities: Ints) -> list[list[str]]:
    """All names of each entity."""
    chosen = entities[:: max(1, len(entities) // MOST_NAMES)]
    return [[name.text for name in graph.names.of_entity(entity)] for entity in chosen.tolist()]


def _readable(entities: Sequence[Sequence[str]]) -> bool:
    """Whether at least half of the entities have a name that is more than a code."""
    return _readable_share(entities) >= 0.5


def _readable_share(entities: Sequence[Sequence[str]]) -> float:
    return sum(any(not _is_code(name) for name in names) for names in entities) / max(1, len(entities))


def _is_code(name: str) -> bool:
    return sum(map(str.isalpha, name)) < CODE * max(1, len(name))


def _name_text(entities: Sequence[Sequence[str]]) -> str:
    example = next((name for names in entities for name in names), "")
    return f"{_readable_share(entities):.0%} readable (such as {example[:40]!r})"


def _unnamed_text(graph: KnowledgeGraph) -> str:
    """The literals of the largest class without names, empty where there are none."""
    classes = graph.record.get("names by class", ())
    unnamed = next((each for each in classes if not each["names"] and each["no names"]), None)
    if unnamed is None:
        return ""
    listed = ", ".join(unnamed["no names"][:MOST_LITERALS])
    return f"; {unnamed['subjects']:,} entities ({local_name(unnamed['class'])}) have {listed}"


def _share_text(shares: dict[str, float]) -> str:
    return ", ".join(f"{script} {share:.0%}" for script, share in list(shares.items())[:2]) or "no letters"


def _triple_text(graph: KnowledgeGraph) -> str:
    return f"{len(graph.triples):,} between {len(graph.entities):,} entities by {len(graph.relations):,} relations"
