"""SSSOM, the Simple Standard for Sharing Ontological Mappings: links with their confidence, and who has no match.

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

from kgalign.version import __version__
from kgalign.data import Alignment, AlignmentTask, KnowledgeGraph
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
MOST_PREFIXES = 40  # of a side; where there are more, they are cut shorter
EXACT, TOGETHER, NOBODY = "skos:exactMatch", "semapv:CompositeMatching", "sssom:NoTermFound"
NAMESPACE = re.compile(r"^.*[#/]|^.*:", re.DOTALL)
AS_THEY_ARE = "%/()',!:@=+;$&*?~#"  # what else would be encoded, though an IRI and a CURIE may hold it


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes a row for each link, and one with sssom:NoTermFound for each query and each pool entry that has none."""
    subjects, objects = ([iri(entity, side)[1:-1] for entity in graph.entities] for side, graph in _sides(task))
    alone, alone_too = task.unmatched(alignment)
    prefixes = _prefixes("source", (subjects[i] for i in [*alignment.sources.tolist(), *alone.tolist()]), {})
    prefixes = _prefixes("target", (objects[i] for i in [*alignment.targets.tolist(), *alone_too.tolist()]), prefixes)
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
    often = np.bincount(alignment.targets, minlength=1)
    links = zip(alignment.pairs.tolist(), alignment.scores.tolist(), alignment.rounds.tolist(), strict=True)
    for (source, target), score, number in links:
        yield (
            curie(subjects[source], prefixes),
            one_field(task.source.names[source]),
            EXACT,
            curie(objects[target], prefixes),
            one_field(task.target.names[target]),
            TOGETHER,
            "1:1" if often[target] == 1 else "n:1",
            _number(score),
            f"sure since round {number}" if number else f"decided by {decoder}",
        )
    alone, alone_too = task.unmatched(alignment)
    for source in alone.tolist():
        name = one_field(task.source.names[source])
        yield curie(subjects[source], prefixes), name, EXACT, NOBODY, "", TOGETHER, "1:0", "", "no candidate was good enough"
    for target in alone_too.tolist():
        name = one_field(task.target.names[target])
        yield NOBODY, "", EXACT, curie(objects[target], prefixes), name, TOGETHER, "0:1", "", "given to nobody"


def curie(address: str, prefixes: dict[str, str]) -> str:
    """The IRI with its namespace as a prefix, and what is not ASCII percent-encoded: not every reader takes it otherwise."""
    namespace = _namespace(address)
    while namespace not in prefixes:
        namespace = _namespace(namespace[:-1])
    return f"{prefixes[namespace]}:{quote(address[len(namespace) :], safe=AS_THEY_ARE)}"


def _prefixes(side: str, addresses: Iterable[str], prefixes: dict[str, str]) -> dict[str, str]:
    """A prefix for each namespace, those there are and those of a side; one that lies within another needs none."""
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
    """What comes before the last part of an IRI."""
    found = NAMESPACE.match(address)
    return found.group() if found else address


def _number(value: float) -> str:
    """Three decimals at most, as the canonical form asks for."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _sides(task: AlignmentTask) -> tuple[tuple[str, KnowledgeGraph], ...]:
    return ("source", task.source), ("target", task.target)
