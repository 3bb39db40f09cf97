"""Top-k candidates of sparse and dense vectors. Its loops are compiled on first use, so import it late."""

from kgalign.search.candidates import Vectors, find_candidates, pack, pair_products, top_k, unique_pairs
from kgalign.search.dense import Metric
from kgalign.search.engine import Engine, LocalThreads, Watched
from kgalign.search.similarity import Similarity

__all__ = [
    "Engine",
    "LocalThreads",
    "Metric",
    "Similarity",
    "Vectors",
    "Watched",
    "find_candidates",
    "pack",
    "pair_products",
    "top_k",
    "unique_pairs",
]
