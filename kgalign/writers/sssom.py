"""SSSOM, the Simple Standard for Sharing Ontological Mappings: links with their confidence, and unmatched entities.

https://mapping-commons.github.io/sssom/
"""

from __future__ import annotations

import csv
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from kgalign.characters import CONTROL
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.files import with_apostrophe
from kgalign.version import __version__
from kgalign.writers.kinds import link_kinds
from kgalign.writers.sameas import iri

METADATA = """\
#sssom_version: "1.1"
#curie_map:
{prefixes}
#mapping_set_id: https://w3id.org/sssom/mapping-set/{identifier}
#license: https://w3id.org/sssom/license/unspecified
{subject_type}#subject_source: kgalign:source
{object_type}#object_source: kgalign:target
#mapping_tool: kgalign
#mapping_tool_version: {version}
#mapping_date: {today}
"""
MOST_PREFIXES = 40  # of a side; where there are more namespaces, shorter ones are used
LONGEST_NAMESPACE = 1000  # characters; shortening a longer one part by part would take ever longer
PREDICATES = ("owl:sameAs", "owl:equivalentClass", "owl:equivalentProperty", "skos:exactMatch")  # in the order of KINDS
TYPES = ("owl named individual", "owl class", "rdf property", "skos concept")  # the same
COMPOSITE, BY_HAND = "semapv:CompositeMatching", "semapv:ManualMappingCuration"
NO_MATCH = "sssom:NoTermFound"
NAMESPACE = re.compile(r"^.*[#/]|^.*:", re.DOTALL)
NOT_ENCODED = "%/()',!:@=+;$&*?~#"  # `quote` would encode these too, but an IRI and a CURIE may hold them


class Mapping(NamedTuple):
    """A row: a link, or an unmatched entity beside sssom:NoTermFound, which then has the type of that entity.

    The columns stand in the order of the canonical form.
    """

    subject_id: str
    subject_label: str
    predicate_id: str
    object_id: str
    object_label: str
    mapping_justification: str
    subject_type: str
    object_type: str
    mapping_cardinality: str
    confidence: str
    comment: str


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes a row for each link, and one with sssom:NoTermFound for each unmatched query and pool entity.

    What people have decided on is justified by manual curation, all other links by composite matching.
    """
    subjects, objects = ([iri(entity, side)[1:-1] for entity in graph.entities] for side, graph in _sides(task))
    queries, pool = task.unmatched(alignment)
    prefixes = prefixes_of("source", (subjects[i] for i in [*alignment.sources.tolist(), *queries.tolist()]), {})
    prefixes = prefixes_of("target", (objects[i] for i in [*alignment.targets.tolist(), *pool.tolist()]), prefixes)
    rows = sorted(_rows(alignment, task, subjects, objects, prefixes))
    content = "\n".join("\t".join(row) for row in rows)
    lines = [f"#  {name}: {json.dumps(namespace)}" for namespace, name in {"urn:kgalign:": "kgalign", **prefixes}.items()]
    common = _common_types(rows)
    columns = [number for number, name in enumerate(Mapping._fields) if name not in common]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(
            METADATA.format(
                prefixes="\n".join(lines),
                identifier=uuid.uuid5(uuid.NAMESPACE_URL, content),
                **{name: f"#{name}: {common[name]}\n" if name in common else "" for name in ("subject_type", "object_type")},
                version=__version__,
                today=date.today().isoformat(),
            )
        )
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerows([row[number] for number in columns] for row in (Mapping._fields, *rows))


def _common_types(rows: Sequence[Mapping]) -> dict[str, str]:
    """The types that all rows share. The canonical form has them in the metadata instead of a column."""
    found = {"subject_type": {row.subject_type for row in rows}, "object_type": {row.object_type for row in rows}}
    return {name: types.pop() for name, types in found.items() if len(types) == 1}


def _rows(
    alignment: Alignment, task: AlignmentTask, subjects: list[str], objects: list[str], prefixes: dict[str, str]
) -> Iterable[Mapping]:
    decoder = str(alignment.record.get("decoder", "decoder"))
    several = [np.bincount(ids, minlength=1) > 1 for ids in alignment.pairs.T]  # sources with several targets, and the reverse
    kinds = link_kinds(alignment, task).tolist()
    by_hand = alignment.among(task.decided).tolist()
    links = zip(alignment.pairs.tolist(), alignment.scores.tolist(), alignment.rounds.tolist(), kinds, by_hand, strict=True)
    for (source, target), score, number, kind, by_person in links:
        yield Mapping(
            subject_id=curie(subjects[source], prefixes),
            subject_label=label_of(task.source.names[source]),
            predicate_id=PREDICATES[kind],
            object_id=curie(objects[target], prefixes),
            object_label=label_of(task.target.names[target]),
            mapping_justification=BY_HAND if by_person else COMPOSITE,
            subject_type=TYPES[task.source.kinds[source]],
            object_type=TYPES[task.target.kinds[target]],
            mapping_cardinality=f"{'n' if several[1][target] else '1'}:{'n' if several[0][source] else '1'}",
            confidence=_number(score),
            comment="decided by a person"
            if by_person
            else f"confident since round {number}"
            if number
            else f"decided by {decoder}",
        )
    queries, pool = task.unmatched(alignment)
    for source in queries.tolist():
        subject, name = curie(subjects[source], prefixes), label_of(task.source.names[source])
        kind = task.source.kinds[source]
        rest = COMPOSITE, TYPES[kind], TYPES[kind], "1:0", "", "no candidate is probable enough"
        yield Mapping(subject, name, PREDICATES[kind], NO_MATCH, "", *rest)
    for target in pool.tolist():
        object_, name = curie(objects[target], prefixes), label_of(task.target.names[target])
        kind = task.target.kinds[target]
        rest = COMPOSITE, TYPES[kind], TYPES[kind], "0:1", "", "no query is linked to it"
        yield Mapping(NO_MATCH, "", PREDICATES[kind], object_, name, *rest)


def curie(address: str, prefixes: dict[str, str]) -> str:
    """The IRI with its namespace as a prefix. Other characters than ASCII are percent-encoded, since some readers refuse them."""
    namespace = _known(_namespace(address), prefixes)
    return f"{prefixes[namespace]}:{quote(address[len(namespace) :], safe=NOT_ENCODED)}"


def prefixes_of(side: str, addresses: Iterable[str], prefixes: dict[str, str]) -> dict[str, str]:
    """The given prefixes and one for each namespace of a side; a namespace within another needs none of its own."""
    found = {_namespace(address) for address in addresses}
    while len(found) > MOST_PREFIXES:
        shorter = {_namespace(namespace[:-1]) if namespace.count("/") > 3 else namespace for namespace in found}
        if shorter == found:
            break
        found = shorter
    prefixes, new = dict(prefixes), 0
    for namespace in sorted(found, key=lambda namespace: (len(namespace), namespace)):
        if not _known(namespace, prefixes):
            new += 1
            prefixes[namespace] = side if new == 1 else f"{side}{new}"
    return prefixes


def _known(namespace: str, prefixes: dict[str, str]) -> str:
    """The namespace, or the nearest one that it lies in, among those that have a prefix; empty if there is none."""
    while namespace and namespace not in prefixes:
        namespace = _namespace(namespace[:-1])
    return namespace


def _namespace(address: str) -> str:
    """The IRI without its last part, or the beginning of it that may be a namespace."""
    found = NAMESPACE.match(address, 0, LONGEST_NAMESPACE)
    return found.group() if found else address[:LONGEST_NAMESPACE]


def label_of(name: str) -> str:
    """The name on one line; labels are for people, who may open the table in a spreadsheet."""
    return with_apostrophe(CONTROL.sub(" ", name))


def _number(value: float) -> str:
    """The digits of alignment.tsv. The canonical form has three decimals at most, by which 0.9998 would become certain."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _sides(task: AlignmentTask) -> tuple[tuple[str, KnowledgeGraph], ...]:
    return ("source", task.source), ("target", task.target)
