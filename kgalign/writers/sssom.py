"""SSSOM, the Simple Standard for Sharing Ontological Mappings: links with their confidence, and unmatched entities.

https://mapping-commons.github.io/sssom/
"""

from __future__ import annotations

import csv
import json
import re
import uuid
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from urllib.parse import quote

import numpy as np

from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.version import __version__
from kgalign.writers.sameas import iri
from kgalign.writers.tsv import one_field

HEADER = (
    "subject_id",
    "subject_label",
    "predicate_id",
    "object_id",
    "object_label",
    "mapping_justification",
    "mapping_cardinality",
    "confidence",
    "comment",
)
METADATA = """\
#sssom_version: "1.1"
#curie_map:
{prefixes}
#mapping_set_id: https://w3id.org/sssom/mapping-set/{identifier}
#license: https://w3id.org/sssom/license/unspecified
#subject_type: owl named individual
#subject_source: kgalign:source
#object_type: owl named individual
#object_source: kgalign:target
#mapping_tool: kgalign
#mapping_tool_version: {version}
#mapping_date: {today}
"""
MOST_PREFIXES = 40  # of a side; where there are more namespaces, shorter ones are used
EXACT, COMPOSITE, NO_MATCH = "skos:exactMatch", "semapv:CompositeMatching", "sssom:NoTermFound"
NAMESPACE = re.compile(r"^.*[#/]|^.*:", re.DOTALL)
NOT_ENCODED = "%/()',!:@=+;$&*?~#"  # `quote` would encode these too, but an IRI and a CURIE may hold them


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes a row for each link, and one with sssom:NoTermFound for each unmatched query and pool entity."""
    subjects, objects = ([iri(entity, side)[1:-1] for entity in graph.entities] for side, graph in _sides(task))
    queries, pool = task.unmatched(alignment)
    prefixes = _prefixes("source", (subjects[i] for i in [*alignment.sources.tolist(), *queries.tolist()]), {})
    prefixes = _prefixes("target", (objects[i] for i in [*alignment.targets.tolist(), *pool.tolist()]), prefixes)
    rows = sorted(_rows(alignment, task, subjects, objects, prefixes))
    content = "\n".join("\t".join(row) for row in rows)
    lines = [f"#  {name}: {json.dumps(namespace)}" for namespace, name in {"urn:kgalign:": "kgalign", **prefixes}.items()]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(
            METADATA.format(
                prefixes="\n".join(lines),
                identifier=uuid.uuid5(uuid.NAMESPACE_URL, content),
                version=__version__,
                today=date.today().isoformat(),
            )
        )
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(HEADER)
        table.writerows(rows)


def _rows(
    alignment: Alignment, task: AlignmentTask, subjects: list[str], objects: list[str], prefixes: dict[str, str]
) -> Iterable[tuple[str, ...]]:
    decoder = str(alignment.record.get("decoder", "decoder"))
    uses = np.bincount(alignment.targets, minlength=1)
    links = zip(alignment.pairs.tolist(), alignment.scores.tolist(), alignment.rounds.tolist(), strict=True)
    for (source, target), score, number in links:
        yield (
            curie(subjects[source], prefixes),
            one_field(task.source.names[source]),
            EXACT,
            curie(objects[target], prefixes),
            one_field(task.target.names[target]),
            COMPOSITE,
            "1:1" if uses[target] == 1 else "n:1",
            _number(score),
            f"confident since round {number}" if number else f"decided by {decoder}",
        )
    queries, pool = task.unmatched(alignment)
    for source in queries.tolist():
        name = one_field(task.source.names[source])
        yield curie(subjects[source], prefixes), name, EXACT, NO_MATCH, "", COMPOSITE, "1:0", "", "no candidate is probable enough"
    for target in pool.tolist():
        name = one_field(task.target.names[target])
        yield NO_MATCH, "", EXACT, curie(objects[target], prefixes), name, COMPOSITE, "0:1", "", "no query is linked to it"


def curie(address: str, prefixes: dict[str, str]) -> str:
    """The IRI with its namespace as a prefix. Other characters than ASCII are percent-encoded, since some readers refuse them."""
    namespace = _namespace(address)
    while namespace not in prefixes:
        namespace = _namespace(namespace[:-1])
    return f"{prefixes[namespace]}:{quote(address[len(namespace) :], safe=NOT_ENCODED)}"


def _prefixes(side: str, addresses: Iterable[str], prefixes: dict[str, str]) -> dict[str, str]:
    """The given prefixes and one for each namespace of a side; a namespace within another needs none of its own."""
    found = {_namespace(address) for address in addresses}
    while len(found) > MOST_PREFIXES:
        shorter = {_namespace(namespace[:-1]) if namespace.count("/") > 3 else namespace for namespace in found}
        if shorter == found:
            break
        found = shorter
    prefixes, new = dict(prefixes), 0
    for namespace in sorted(found, key=lambda namespace: (len(namespace), namespace)):
        if not namespace.startswith(tuple(prefixes)):
            new += 1
            prefixes[namespace] = side if new == 1 else f"{side}{new}"
    return prefixes


def _namespace(address: str) -> str:
    """The IRI without its last part."""
    found = NAMESPACE.match(address)
    return found.group() if found else address


def _number(value: float) -> str:
    """At most three decimals, as the canonical form requires."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _sides(task: AlignmentTask) -> tuple[tuple[str, KnowledgeGraph], ...]:
    return ("source", task.source), ("target", task.target)
