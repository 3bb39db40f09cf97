"""Decisions that stand as SSSOM: who decided what, and when. `kgalign align --decisions` reads such a file, too."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from kgalign.data import CONCEPT, INDIVIDUAL
from kgalign.decisions import NO_MATCH, UNSURE, Decision, Standing
from kgalign.drafts import NEW, check_new, draft_of, put_in_place
from kgalign.review.entities import Entities
from kgalign.version import __version__
from kgalign.writers.sameas import iri
from kgalign.writers.sssom import BY_HAND, PREDICATES, TYPES, curie, label_of, prefixes_of
from kgalign.writers.sssom import NO_MATCH as NO_TERM

METADATA = """\
#sssom_version: "1.1"
#curie_map:
{prefixes}
#mapping_set_id: https://w3id.org/sssom/mapping-set/{identifier}
#license: https://w3id.org/sssom/license/unspecified
#subject_source: kgalign:source
#object_source: kgalign:target
#mapping_tool: kgalign
#mapping_tool_version: {version}
"""
AUTHOR, AUTHORS = "author", "urn:kgalign:author:"
NOT, NOT_SURE = "Not", "0"


class Mapping(NamedTuple):
    """A row: a decision. The columns stand in the order of the canonical form."""

    subject_id: str
    subject_label: str
    predicate_id: str
    predicate_modifier: str
    object_id: str
    object_label: str
    mapping_justification: str
    author_id: str
    author_label: str
    reviewer_agreement: str
    subject_type: str
    object_type: str
    mapping_date: str


def write_decisions(standing: Standing, sides: tuple[Entities, Entities], path: Path, force: bool = False) -> int:
    """Writes the decisions that stand, the whole file or none, and returns how many. A file that is there is refused without `force`."""
    content, count = as_sssom(standing, sides)
    check_new(path, force)
    with draft_of(path) as draft:
        (draft / NEW).write_text(content, "utf-8", newline="")
        put_in_place(draft / NEW, path)
    return count


def as_sssom(standing: Standing, sides: tuple[Entities, Entities]) -> tuple[str, int]:
    """The decisions that stand as the content of a file, and how many they are.

    Matches have the predicate of their kind. Rejected pairs have the modifier Not, too, and what nobody could decide has a
    `reviewer_agreement` of 0. A source without a counterpart stands beside sssom:NoTermFound. Decisions about entities that the graphs do
    not have are left out.

    Args:
        standing: What stands.
        sides: The entities of both graphs.
    """
    decisions = [
        each
        for place in (standing.matches, standing.rejected, standing.alone, standing.unsure)
        for each in place.values()
        if each.source in sides[0].ids and (each.target in sides[1].ids or (not each.target and each.verdict == NO_MATCH))
    ]
    ends = [(iri(each.source, "source")[1:-1], iri(each.target, "target")[1:-1] if each.target else "") for each in decisions]
    prefixes = prefixes_of("source", (one for one, _ in ends), {})
    prefixes = prefixes_of("target", (other for _, other in ends if other), prefixes)
    rows = sorted(_rows(decisions, ends, sides, prefixes))
    content = "\n".join("\t".join(row) for row in rows)
    names = {"urn:kgalign:": "kgalign", AUTHORS: AUTHOR, **prefixes}
    file = io.StringIO(newline="")
    lines = "\n".join(f"#  {name}: {json.dumps(namespace)}" for namespace, name in names.items())
    file.write(METADATA.format(prefixes=lines, identifier=uuid.uuid5(uuid.NAMESPACE_URL, content), version=__version__))
    csv.writer(file, delimiter="\t", lineterminator="\n").writerows([Mapping._fields, *rows])
    return file.getvalue(), len(rows)


def _rows(
    decisions: list[Decision], ends: list[tuple[str, str]], sides: tuple[Entities, Entities], prefixes: dict[str, str]
) -> Iterator[Mapping]:
    for each, (subject, object_) in zip(decisions, ends, strict=True):
        source, target = sides[0].ids[each.source], sides[1].ids.get(each.target, -1)
        kinds = int(sides[0].graph.kinds[source]), int(sides[1].graph.kinds[target]) if target >= 0 else -1
        yield Mapping(
            subject_id=curie(subject, prefixes),
            subject_label=label_of(sides[0].name(source)),
            predicate_id=PREDICATES[_kind(kinds)],
            predicate_modifier=NOT if each.verdict == NO_MATCH and target >= 0 else "",
            object_id=curie(object_, prefixes) if target >= 0 else NO_TERM,
            object_label=label_of(sides[1].name(target)) if target >= 0 else "",
            mapping_justification=BY_HAND,
            author_id=f"{AUTHOR}:{quote(each.author, safe='')}" if each.author else "",
            author_label=label_of(each.author),
            reviewer_agreement=NOT_SURE if each.verdict == UNSURE else "",
            subject_type=TYPES[kinds[0]],
            object_type=TYPES[kinds[1] if target >= 0 else kinds[0]],
            mapping_date=_day(each.at),
        )


def _kind(kinds: tuple[int, int]) -> int:
    """The kind of a link, see `link_kinds`; the kind -1: there is no target."""
    source, target = kinds
    return source if target in (-1, source) else CONCEPT if CONCEPT in kinds else INDIVIDUAL


def _day(at: str) -> str:
    """The day of a time in UTC; today where it is no time."""
    try:
        return datetime.fromisoformat(at).date().isoformat()
    except ValueError:
        return datetime.now(UTC).date().isoformat()
