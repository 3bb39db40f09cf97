"""All that two entities say in words: their names and the texts of their literals together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import KnowledgeGraph
from kgalign.features.words import Words, weighted_words

ADDRESS = re.compile(r"\w+://|www\.(?=\S+$)", re.IGNORECASE)
LETTER = re.compile(r"[^\W\d_]")
MOST_CHARACTERS = 2000  # of a text
LEAST_WORDED = 0.5  # share of the entities with literals that have words


def text_vectors(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array] | None:
    """Unit TF-IDF vectors of the words in all names and literals of each entity.

    None where few entities of a graph have literals with words: then texts say again what names say.
    """
    if not all(_have_words(graph) for graph in (source, target)):
        return None
    owners, texts = zip(*chain(texts_of(source), texts_of(target, len(source.entities))), strict=True)
    words = Words.of(texts).stems.grouped(np.array(owners), len(source.entities) + len(target.entities))
    vectors = weighted_words(words)
    return vectors[: len(source.entities)], vectors[len(source.entities) :]


def texts_of(graph: KnowledgeGraph, first: int = 0) -> Iterator[tuple[int, str]]:
    """The owner and the text of each name and each literal that is not empty. Addresses are no texts. Owners are numbered from `first`."""
    yield from zip((graph.names.owner + first).tolist(), graph.names.text, strict=True)
    owners = (np.asarray(graph.attributes.facts)[:, 0] + first).tolist()
    for owner, text in zip(owners, graph.attributes.values, strict=True):
        if text and not ADDRESS.match(text):
            yield owner, text[:MOST_CHARACTERS]


def _have_words(graph: KnowledgeGraph) -> bool:
    """Whether most entities have literals with words."""
    owners = np.asarray(graph.attributes.facts)[:, 0]
    worded = np.fromiter(map(_has_words, graph.attributes.values), bool, len(owners))
    return len(np.unique(owners[worded])) > LEAST_WORDED * len(graph.entities)


def _has_words(text: str) -> bool:
    return bool(text) and LETTER.search(text) is not None and not ADDRESS.match(text)
