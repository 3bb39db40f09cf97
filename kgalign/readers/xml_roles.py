"""Which elements of RDF/XML are nodes and which are properties, from the way in which a document uses their names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from kgalign.readers.xml_attributes import Attributes
from kgalign.readers.xml_tags import NAME, Tag

STARTED = re.compile(rf"<({NAME})(?=[\s/>])([^<>]*)>(\s*[^<>\s])?")  # a start tag, and whether text follows
ABOUT = re.compile(r"\babout\s*=")
IDENTIFIED = re.compile(r"\bID\s*=")
VALUE = re.compile(r"\b(?:resource|datatype|parseType)\s*=")


def find_roles(text: str) -> Roles:
    """The roles of all names in a document, also where its tags do not fit together."""
    as_node, as_property = Counter[str](), Counter[str]()
    for name, attributes, begun in STARTED.findall(text):
        if ABOUT.search(attributes):
            as_node[name] += 1
        elif begun or VALUE.search(attributes):
            as_property[name] += 1
        elif IDENTIFIED.search(attributes):
            as_node[name] += 1
    return Roles(as_node, as_property)


@dataclass(frozen=True)
class Roles:
    """How often each name looks like that of a node, and like that of a property."""

    as_node: Counter[str]
    as_property: Counter[str]

    def is_node_name(self, name: str) -> bool:
        """Whether most elements of that name are nodes."""
        return self.as_node[name] > self.as_property[name]

    def is_node(self, tag: Tag, attributes: Attributes) -> bool:
        """Whether the element can only be a node."""
        if attributes.has(tag, "resource", "datatype", "parseType"):
            return False
        return attributes.has(tag, "about") or (attributes.has(tag, "ID", "nodeID") and self.is_node_name(tag.name))

    def is_property(self, tag: Tag, attributes: Attributes) -> bool:
        """Whether the element can only be a property, or is one nearly everywhere else."""
        if attributes.has(tag, "about"):
            return False
        is_usual = self.as_property[tag.name] > self.as_node[tag.name]
        return is_usual or attributes.has(tag, "resource", "datatype", "parseType")
