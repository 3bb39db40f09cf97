"""The evidence for any pair of entities: what the run has stored, and else what the surroundings of the two say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Attributes, Candidates, Ints, KnowledgeGraph, Names
from kgalign.explain.evidence import gather_evidence
from kgalign.explain.explanations import Pair
from kgalign.features.relations import Edges, plausible_links
from kgalign.review.entities import Entities
from kgalign.review.reviewed_run import ReviewedRun
from kgalign.runs.evidence_table import evidence_table, explanations

MOST_NEIGHBOURS = 200  # of either entity
EXAMPLES = 100  # other links, which show which properties match


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """What says something for or against a pair.

    Attributes:
        edges: Those of both graphs.
        sides: The entities of both graphs.
        run: The run.
        links: The links and seeds that join neighbours.
        examples: Some plausible links.
    """

    edges: tuple[Edges, Edges]
    sides: tuple[Entities, Entities]
    run: ReviewedRun
    links: Alignment
    examples: Ints

    @classmethod
    def of(cls, run: ReviewedRun, sides: tuple[Entities, Entities], edges: tuple[Edges, Edges]) -> PairEvidence:
        plausible = plausible_links(run.task, run.links)
        chosen = np.random.default_rng(0).permutation(len(plausible))[:EXAMPLES]
        links = run.task.seeds + run.links
        return cls(edges, sides, run, links.where(np.argsort(links.sources, kind="stable")), plausible.pairs[chosen])

    def of_pair(self, source: int, target: int) -> Pair | None:
        """The evidence for a pair, stored or found now; None: there is nothing to say."""
        iri = self.run.task.target.entities[target]
        for explanation in explanations(self.run.evidence.of_source(self.run.task.source.entities[source])):
            for pair in (explanation.link, explanation.runner_up):
                if pair is not None and pair.target == iri:
                    return pair
        return self._found_now(source, target)

    def neighbour_counts(self, source: int, target: int | None) -> list[int]:
        """How many neighbours both entities have."""
        pair = zip(self.edges, (source, target), strict=True)
        return [
            0 if entity is None else int(side.adjacency.indptr[entity + 1] - side.adjacency.indptr[entity]) for side, entity in pair
        ]

    def _found_now(self, source: int, target: int) -> Pair | None:
        """The evidence that the neighbours of two entities give, with a few other links that tell which properties match."""
        graphs, near = (self.run.task.source, self.run.task.target), []
        for entity, side, examples in zip((source, target), self.edges, self.examples.T, strict=True):
            own = side.adjacency.indices[side.adjacency.indptr[entity] : side.adjacency.indptr[entity + 1]]
            near.append(np.unique(np.concatenate([[entity], own[:MOST_NEIGHBOURS].astype(np.int64), examples])))
        rows = _rows_of(self.links.sources, near[0])
        links = self.links.where(rows)
        links = links.where(np.isin(links.targets, near[1]))
        numbers = [np.searchsorted(own, links.pairs[:, column]) for column, own in enumerate(near)]
        inside = Alignment(np.column_stack(numbers), links.scores, links.rounds)
        small = [
            _part(graph, own, side, entity, entities)
            for graph, own, side, entity, entities in zip(graphs, near, self.edges, (source, target), self.sides, strict=True)
        ]
        here = int(np.searchsorted(near[0], source)), int(np.searchsorted(near[1], target))
        seeds = inside.where(links.among(self.run.task.seeds))
        others = inside.where(~links.among(self.run.task.seeds) & (inside.sources != here[0]))
        task = AlignmentTask(small[0], small[1], seeds, np.array([here[0]]), np.array([here[1]]), cardinality="many-to-many")
        only = Candidates(np.array([here[0]]), np.array([[here[1]]]), np.zeros((1, 1)))
        evidence = gather_evidence(task, others, only, sources=np.array([here[0]]))
        found = next(iter(explanations(evidence_table(evidence, task, "").to_pylist())), None)
        return None if found is None else found.link or found.runner_up


def _rows_of(ascending: Ints, wanted: Ints) -> Ints:
    """The positions of all that have one of the wanted numbers."""
    begins, ends = np.searchsorted(ascending, wanted, "left"), np.searchsorted(ascending, wanted, "right")
    counts = ends - begins
    return np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def _part(graph: KnowledgeGraph, chosen: Ints, edges: Edges, entity: int, entities: Entities) -> KnowledgeGraph:
    """The graph of some entities, with the triples of one of them, and the literals of all."""
    own = edges.triples[edges.starts[entity] : edges.starts[entity + 1]]
    own = own[np.isin(own[:, 2], chosen)]
    turned = own[:, 1] >= edges.relations
    head, tail = np.where(turned, own[:, 2], own[:, 0]), np.where(turned, own[:, 0], own[:, 2])
    triples = np.column_stack([np.searchsorted(chosen, head), own[:, 1] % max(1, edges.relations), np.searchsorted(chosen, tail)])
    facts = np.concatenate([entities.facts[entities.starts[each] : entities.starts[each + 1]] for each in chosen.tolist()])
    literals = graph.attributes
    rows = literals.facts[facts]
    attributes = Attributes(
        literals.properties,
        np.column_stack([np.searchsorted(chosen, rows[:, 0]), rows[:, 1]]),
        [literals.values[fact] for fact in facts.tolist()],
        [literals.kinds[fact] for fact in facts.tolist()],
    )
    names = Names.of([graph.names.of_entity(each) for each in chosen.tolist()])
    shown = [graph.names[each] for each in chosen.tolist()]
    return KnowledgeGraph(
        [graph.entities[each] for each in chosen.tolist()],
        graph.relations,
        triples,
        replace(names, shown=shown),
        attributes,
        kinds=graph.kinds[chosen],
    )
