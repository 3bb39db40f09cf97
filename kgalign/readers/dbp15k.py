"""Folders as DBP15K has them: entities, relations and triples by number, in all public variants."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from kgalign.data import Attributes, KnowledgeGraph, Names
from kgalign.errors import DataError
from kgalign.files import find_file, read_rows
from kgalign.iri import local_name
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.links import check_apart, make_links
from kgalign.seams import GraphPair

NEEDED = ("ent_ids_1", "ent_ids_2", "triples_1", "triples_2")
LINK_FILES = (("sup_ent_ids", "ref_ent_ids"), ("sup_pairs", "ref_pairs"))  # seeds, test links


class Dbp15kReader:
    """Reads a folder as DBP15K has it."""

    expects = f"a DBP15K folder ({', '.join(NEEDED)})"

    def accepts(self, folder: Path) -> bool:
        """Whether the folder has entities and triples of two graphs."""
        return all(find_file(folder, name) for name in NEEDED)

    def read(self, folder: Path, *, fold: int = 1, limits: Limits = DEFAULT) -> GraphPair:
        """The graphs and their links. Names come from names_1/2, else from ent_ids_1/2_trans_goo, else from the IRIs.

        Args:
            folder: The folder.
            fold: Not used: such a folder has one split.
            limits: How much of each file is taken in.
        """
        source, source_ids = _read_graph(folder, 1, limits)
        target, target_ids = _read_graph(folder, 2, limits)
        for names in LINK_FILES:
            paths = [find_file(folder, name) for name in names]
            seeds, test = (
                None if path is None else make_links(path, read_rows(path, 2, limits), source_ids, target_ids) for path in paths
            )
            if seeds is not None and test is not None and paths[1] is not None:
                check_apart(paths[1], seeds, test)
            if seeds is not None or test is not None:
                return GraphPair(source, target, seeds, test)
        return GraphPair(source, target)


reader = Dbp15kReader()


def _read_graph(folder: Path, side: int, limits: Limits) -> tuple[KnowledgeGraph, dict[str, int]]:
    """The graph of one side, and the id of each entity by its number in the files."""
    ids, entities = _read_numbered(_found(folder, f"ent_ids_{side}"), limits)
    relation_path = find_file(folder, f"rel_ids_{side}")
    relation_ids, relations = _read_numbered(relation_path, limits) if relation_path else ({}, [])
    path = _found(folder, f"triples_{side}")
    triples = array("q")
    for number, (head, relation, tail) in read_rows(path, 3, limits):
        for entity in (head, tail):
            if entity not in ids:
                raise DataError(f"{path}:{number}: no entity has the id {entity!r}; expected one of ent_ids_{side}")
        if relation not in relation_ids:
            if relation_path:
                raise DataError(f"{path}:{number}: no relation has the id {relation!r}; expected one of rel_ids_{side}")
            relation_ids[relation] = len(relations)
            relations.append(relation)
        triples.extend((ids[head], relation_ids[relation], ids[tail]))
    if not triples:
        raise DataError(f"{path}: the graph is empty; expected at least one triple")
    names = _read_names(folder, side, ids, entities, limits)
    attributes = _read_attributes(folder, side, ids, limits)
    return KnowledgeGraph(entities, relations, np.array(triples).reshape(-1, 3), Names.of(names), attributes), ids


def _read_numbered(path: Path, limits: Limits) -> tuple[dict[str, int], list[str]]:
    """The position of each number in a file of numbers and IRIs, and the IRIs."""
    ids: dict[str, int] = {}
    iris: list[str] = []
    for number, (identifier, iri) in read_rows(path, 2, limits):
        if identifier in ids:
            raise DataError(f"{path}:{number}: the id {identifier} is given twice; expected each id once")
        ids[identifier] = len(iris)
        iris.append(iri)
    return ids, iris


def _read_names(folder: Path, side: int, ids: dict[str, int], entities: list[str], limits: Limits) -> list[str]:
    """A name for each entity."""
    names = [local_name(entity) for entity in entities]
    path = find_file(folder, f"names_{side}") or find_file(folder, f"ent_ids_{side}_trans_goo")
    for number, (identifier, name) in read_rows(path, 2, limits) if path else ():
        if identifier not in ids:
            raise DataError(f"{path}:{number}: no entity has the id {identifier!r}; expected one of ent_ids_{side}")
        names[ids[identifier]] = name.strip() or names[ids[identifier]]
    return names


def _read_attributes(folder: Path, side: int, ids: dict[str, int], limits: Limits) -> Attributes:
    """The attributes of the entities. Their values are empty, since these folders do not hold them."""
    property_path, path = find_file(folder, f"attr_ids_{side}"), find_file(folder, f"ent_attrs_{side}")
    if not property_path or not path:
        return Attributes()
    property_ids, properties = _read_numbered(property_path, limits)
    facts = array("q")
    for number, (entity, attributes) in read_rows(path, 2, limits):
        if entity not in ids:
            raise DataError(f"{path}:{number}: no entity has the id {entity!r}; expected one of ent_ids_{side}")
        for attribute in attributes.split():
            if attribute not in property_ids:
                raise DataError(f"{path}:{number}: no attribute has the id {attribute!r}; expected one of attr_ids_{side}")
            facts.extend((ids[entity], property_ids[attribute]))
    return Attributes(properties, np.array(facts, np.int64).reshape(-1, 2), [""] * (len(facts) // 2))


def _found(folder: Path, name: str) -> Path:
    path = find_file(folder, name)
    if path is None:
        raise DataError(f"{folder / name}: no such file")
    return path
