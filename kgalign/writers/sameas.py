"""owl:sameAs links as N-Triples, for graph stores."""

from __future__ import annotations

import re
from pathlib import Path

from kgalign.data import Alignment, AlignmentTask

SAME_AS = "<http://www.w3.org/2002/07/owl#sameAs>"
NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes one triple for each link."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for source, target in alignment.pairs.tolist():
            print(iri(task.source.entities[source]), SAME_AS, iri(task.target.entities[target]), ".", file=file)


def iri(entity: str) -> str:
    """The entity between angle brackets, absolute, with the characters that an IRI cannot hold percent-encoded."""
    entity = entity.strip("<>")
    if not re.match(r"[A-Za-z][\w+.-]*:", entity):
        entity = f"urn:kgalign:{entity}"  # N-Triples has no relative IRIs
    return f"<{NOT_IN_AN_IRI.sub(lambda found: f'%{ord(found.group()):02X}', entity)}>"
