"""All that two entities say in words: their names and the texts of their literals together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import KnowledgeGraph
from kgalign.features.names import WordStems, weighted_words

ADDRESS = re.compile(r"\w+://|www\.(?=\S+$)", re.IGNORECASE)
LETTER = re.compile(r"[^\W\d_]")
MOST_CHARACTERS = 2000  # of a text
LEAST_WORDED = 0.5  # share of the entities with literals that have words


def text_vectors(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array] | None:
    """Unit TF-IDF vectors of the words in all names and literals of each entity.

    None where few entities of a graph have literals with words: then texts say again what names say.
    """
    sides = [_words(graph) for graph in (source, target)]
    if any(side is None for side in sides):
        return None
    left, right = weighted_words([side for side in sides if side is not None])
    return left, right


def texts_of(graph: KnowledgeGraph) -> Iterator[tuple[int, str]]:
    """The owner and the text of each name and each literal that is not empty. Addresses are no texts."""
    yield from zip(graph.names.owner.tolist(), graph.names.text, strict=True)
    owners = np.asarray(graph.attributes.facts)[:, 0].tolist()
    for owner, text in zip(owners, graph.attributes.values, strict=True):
        if text and not ADDRESS.match(text):
            yield owner, text[:MOST_CHARACTERS]


def _words(graph: KnowledgeGraph) -> Sequence[Sequence[str]] | None:
    """The words of each entity; None where few have literals with words."""
    owners = np.asarray(graph.attributes.facts)[:, 0]
    worded = np.fromiter(map(_has_words, graph.attributes.values), bool, len(owners))
    if len(np.unique(owners[worded])) <= LEAST_WORDED * len(graph.entities):
        return None
    words: list[list[str]] = [[] for _ in graph.entities]
    known: dict[str, list[str]] = {}
    stems = WordStems()
    for owner, text in texts_of(graph):
        if text not in known:
            known[text] = stems.of(text)
        words[owner] += known[text]
    return words


def _has_words(text: str) -> bool:
    return bool(text) and LETTER.search(text) is not None and not ADDRESS.match(text)
