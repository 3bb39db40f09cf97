"""A hint for a one-to-one run: entities of one side that look like duplicates, so that another cardinality may fit better."""

from __future__ import annotations

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Cardinality, Ints, KnowledgeGraph
from kgalign.explain.names import matching_names
from kgalign.readers.schema import TYPE

LEAST = 0.2  # of a link; duplicates that are all alike share the probability between them
SIMILAR = 0.8  # letter pairs in common, of names that may be one name
NEARLY_AS = 0.9  # and as similar as this share of the similarity of the linked names
MIN_DUPLICATED, MIN_SHARE = 5, 0.1  # of linked entities: fewer are namesakes


def hint_cardinality(task: AlignmentTask, alignment: Alignment, candidates: Candidates) -> str | None:
    """A hint which cardinality to try, None where one-to-one seems to fit or another one is set.

    An unmatched entity looks like a duplicate if its best candidate is linked to another entity of its class, and has a name as similar.
    """
    links = alignment.where(alignment.scores > LEAST)
    if task.cardinality != "one-to-one" or not len(links):
        return None
    sources, targets = (_duplicated(task, links, candidates, side) for side in (1, 0))
    least = max(MIN_DUPLICATED, MIN_SHARE * len(links))
    if sources < least and targets < least:
        return None
    fitting: Cardinality = (
        "many-to-many" if min(sources, targets) >= least else "one-to-many" if sources >= least else "many-to-one"
    )
    side, other, count = ("source", "target", sources) if sources >= least else ("target", "source", targets)
    return (
        f"{count:,} of {len(links):,} linked entities of the {side} have further entities of the {other} with about the same name, which are "
        f"unmatched: if those are the same things, set `cardinality` to {fitting}"
    )


def _duplicated(task: AlignmentTask, links: Alignment, candidates: Candidates, side: int) -> int:
    """How many linked entities of the other side are the best candidate of an unmatched entity of this side that looks like a duplicate.

    Args:
        task: The task.
        links: The links that count.
        candidates: The candidates that they were chosen from.
        side: 0: sources may be duplicates; 1: targets.
    """
    rows, slots = candidates.edges()
    pairs = np.column_stack([candidates.queries[rows], candidates.targets[rows, slots]])
    unmatched = ~np.isin(pairs[:, side], links.pairs[:, side])
    pairs, scores = pairs[unmatched], candidates.scores[rows, slots][unmatched]
    order = np.lexsort((-scores, pairs[:, side]))
    _, first = np.unique(pairs[order, side], return_index=True)
    best = pairs[order[first]]
    best = best[np.isin(best[:, 1 - side], links.pairs[:, 1 - side])]
    if not len(best):
        return 0
    by_other = np.argsort(links.pairs[:, 1 - side])
    link = by_other[np.searchsorted(links.pairs[by_other, 1 - side], best[:, 1 - side])]
    own, linked = (matching_names(task, each)[1] for each in (best, links.pairs[link]))
    similar = (own >= SIMILAR) & (own >= NEARLY_AS * linked)
    similar &= _same_class((task.source, task.target)[side], best[:, side], links.pairs[link, side])
    return len(np.unique(best[similar, 1 - side]))


def _same_class(graph: KnowledgeGraph, ones: Ints, others: Ints) -> Ints:
    """(n,) whether two entities have a class in common, or neither has one."""
    types = [number for number, name in enumerate(graph.relations) if name.strip("<>") == TYPE]
    triples = graph.triples[np.isin(graph.triples[:, 1], types)]
    classes: dict[int, set[int]] = {}
    for entity, _, of in triples[np.isin(triples[:, 0], np.concatenate([ones, others]))].tolist():
        classes.setdefault(entity, set()).add(of)
    pairs = (
        (classes.get(one, set()), classes.get(other, set())) for one, other in zip(ones.tolist(), others.tolist(), strict=True)
    )
    return np.array([bool(one & other) or not (one or other) for one, other in pairs], bool)
