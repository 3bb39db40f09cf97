"""The alignment format of the OAEI and of the Alignment API: RDF/XML with one cell for each link."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from kgalign.data import Alignment, AlignmentTask
from kgalign.writers.sameas import iri

HEAD = """\
<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:xsd="http://www.w3.org/2001/XMLSchema#">
<Alignment>
  <xml>yes</xml>
  <level>0</level>
  <type>{type}</type>
  <onto1><Ontology rdf:about="urn:kgalign:source"/></onto1>
  <onto2><Ontology rdf:about="urn:kgalign:target"/></onto2>
"""
CELL = """\
  <map><Cell>
    <entity1 rdf:resource="{source}"/>
    <entity2 rdf:resource="{target}"/>
    <relation>=</relation>
    <measure rdf:datatype="xsd:float">{score:.4f}</measure>
  </Cell></map>
"""
TAIL = "</Alignment>\n</rdf:RDF>\n"
ONE_TO_ONE, ANY = "11", "??"


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes every link with its probability as the measure."""
    one_to_one = all(len(np.unique(ids)) == len(ids) for ids in (alignment.sources, alignment.targets))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(HEAD.format(type=ONE_TO_ONE if one_to_one else ANY))
        for (source, target), score in zip(alignment.pairs.tolist(), alignment.scores.tolist(), strict=True):
            ends = {  # `iri` leaves no quotation marks
                "source": escape(iri(task.source.entities[source], "source")[1:-1], quote=False),
                "target": escape(iri(task.target.entities[target], "target")[1:-1], quote=False),
            }
            file.write(CELL.format(**ends, score=score))
        file.write(TAIL)
