"""Files to tasks. `read` finds out the format by the files it sees; one module a format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph, Protocol
from kgalign.errors import DataError, OptionError
from kgalign.readers import dbp15k, openea, tables
from kgalign.readers.links import Links, split_links

FORMATS = {"DBP15K": dbp15k, "OpenEA": openea, "tables": tables}


def read(
    source: str | Path,
    target: str | Path | None = None,
    *,
    seeds: str | Path | None = None,
    gold: str | Path | None = None,
    protocol: Protocol | None = None,
    seed_ratio: float = 0.3,
    split_seed: int = 0,
    fold: int = 1,
) -> tuple[AlignmentTask, Alignment]:
    """The task and its gold links, from a dataset folder or from two files of triples. Without test links the gold is empty.

    seeds, gold     files of links, for two files of triples
    protocol        closed: only entities of the test links are asked and on offer; open: everything without a seed.
                    Closed for a dataset folder with test links and open for all else, unless said otherwise
    seed_ratio      the share of links that become seeds, where a folder has all its links in one file; drawn with split_seed
    fold            which of the folds of an OpenEA folder
    """
    if not 0 <= seed_ratio < 1:
        raise OptionError(f"seed_ratio={seed_ratio}: expected a share from 0 to below 1")
    source = Path(source)
    if target is not None:
        links_given = (None if path is None else Path(path) for path in (seeds, gold))
        graphs, links = tables.read_pair(source, Path(target), *links_given)
        links = (links[0] or Alignment.empty(), links[1])  # gold given apart is never made into seeds
        protocol = protocol or "open"
    elif not source.is_dir():
        hint = "a single file is one graph: give the other one too" if source.is_file() else "no such file or folder"
        raise DataError(f"{source}: {hint}")
    elif seeds is not None or gold is not None:
        raise OptionError(f"{source}: a dataset folder brings its own links; --seeds and --gold go with two files of triples")
    else:
        graphs, links = _read_folder(source, fold)
    given, test = links
    if given is None and test is not None:
        given, test = split_links(test, seed_ratio, split_seed)
    return make_task(*graphs, given or Alignment.empty(), test or Alignment.empty(), protocol)


def make_task(
    source: KnowledgeGraph, target: KnowledgeGraph, seeds: Alignment, gold: Alignment, protocol: Protocol | None = None
) -> tuple[AlignmentTask, Alignment]:
    """The task with its queries and its pool as the protocol says, and the gold links."""
    for side, graph in (("source", source), ("target", target)):
        if not graph.entities:
            raise DataError(f"the {side} graph is empty: expected at least one triple")
    protocol = protocol or ("closed" if len(gold) else "open")
    if protocol == "closed" and not len(gold):
        raise OptionError("the closed protocol asks the test links' entities, but there are no test links; use --protocol open")
    queries, pool = gold.sources, gold.targets
    if protocol == "open":
        queries = np.setdiff1d(np.arange(len(source.entities)), seeds.sources)
        pool = np.setdiff1d(np.arange(len(target.entities)), seeds.targets)
    return AlignmentTask(source, target, seeds, queries, pool, protocol), gold


def _read_folder(folder: Path, fold: int) -> tuple[tuple[KnowledgeGraph, KnowledgeGraph], Links]:
    for module in FORMATS.values():
        if not module.missing(folder):
            return module.read_folder(folder, fold) if module is openea else module.read_folder(folder)
    needs = "; ".join(f"{name} needs {module.NEEDS}" for name, module in FORMATS.items())
    raise DataError(f"{folder}: no known dataset in this folder. {needs}")
