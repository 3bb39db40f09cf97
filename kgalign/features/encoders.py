"""Names to vectors by a sentence encoder on disk: names that mean the same, whatever their letters."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Floats, KnowledgeGraph
from kgalign.errors import DataError, OptionError

logger = logging.getLogger(__name__)


def encoded_names(source: KnowledgeGraph, target: KnowledgeGraph, folder: str) -> tuple[Floats, Floats]:
    """Unit vectors of all names of both graphs, (n, d) and (m, d), zero where the encoder has no vector.

    The mean over all names of a graph (its language, and what the encoder puts into everything) is subtracted, so that unrelated names
    have a cosine of about 0.
    """
    encoder = load_encoder(folder)
    logger.info("encoding %s names with %s", f"{len(source.names) + len(target.names):,}", folder)
    return _centred(_encode(encoder, source.names)), _centred(_encode(encoder, target.names))


def load_encoder(folder: str | Path) -> Any:
    """The model2vec or sentence-transformers model of a folder, whose `encode` makes vectors of texts. Nothing is fetched."""
    package = check_encoder(folder)
    try:
        if package == "model2vec":
            return import_module(package).StaticModel.from_pretrained(folder)
        return import_module(package).SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:  # broken files make each of its layers raise another kind
        raise DataError(f"{folder}: {package} cannot read this sentence encoder: {error}") from error


def check_encoder(folder: str | Path) -> str:
    """The package that reads the folder; refuses a folder that holds no encoder, and one whose package is missing."""
    if not Path(folder).is_dir():
        raise DataError(f"{folder}: no such folder; expected a sentence encoder on disk, for nothing is fetched by name")
    described = [file for name in ("modules.json", "config.json") if (file := Path(folder, name)).is_file()]
    if not described:
        raise DataError(
            f"{folder}: neither modules.json nor config.json in it; expected a model2vec or sentence-transformers folder"
        )
    text = described[0].read_text("utf-8", errors="replace")
    package = "model2vec" if "StaticEmbedding" in text or '"model2vec"' in text else "sentence_transformers"
    if find_spec(package) is None:
        needed = package.replace("_", "-")
        raise OptionError(f"the sentence encoder {folder} needs {needed}: pip install {needed}")
    return package


def _encode(encoder: Any, names: Sequence[str]) -> Floats:
    """(n, d) each different name once, in the encoder's own batches; zero for blank names."""
    different, positions = np.unique(np.array(names, object), return_inverse=True)
    vectors = np.asarray(encoder.encode([str(name) for name in different], show_progress_bar=False), np.float32)
    vectors[[not name.strip() for name in different]] = 0
    return vectors[positions]


def _centred(vectors: Floats) -> Floats:
    """The vectors without their mean, at length 1; those that are zero stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    there = lengths.ravel() > 0
    units = vectors / np.maximum(lengths, 1e-12)
    units[there] -= units[there].mean(axis=0) if there.any() else 0
    return units / np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-6)
