"""The attributes of RDF/XML elements: namespaces, bases and the identifiers of nodes, with what is wrong in them put right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from kgalign.readers.xml_tags import PLAIN_NAME, Tag, write_tag

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
NAMESPACES = {  # those of prefixes that files often use without declaring them
    "rdf": RDF,
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "oboInOwl": "http://www.geneontology.org/formats/oboInOwl#",
}
UNKNOWN = "http://undeclared.invalid/"  # where the namespaces of all other prefixes lie; this host never exists
TERMS = frozenset({"about", "resource", "ID", "nodeID", "datatype", "parseType"})  # in old files without a prefix
IDENTIFIER = re.compile(PLAIN_NAME)
ALONE = ("about", "ID", "nodeID", "resource")  # an element has one of them at most


@dataclass(frozen=True)
class Attributes:
    """The namespaces and the base that hold in an element.

    Attributes:
        entities: The values of the entities of the document.
        note: Takes the text and the reason of something that was wrong, and whether a statement is lost by it.
        prefixes: Those that are declared.
        prefix: The one of RDF.
        base: The base of relative IRIs, as it is spelt.
        missing: The prefixes of the document that are not declared.
        used: The values of rdf:ID in the document so far, each with its base.
    """

    entities: Mapping[str, str]
    note: Callable[..., None]
    prefixes: frozenset[str] = frozenset({"xml", "xmlns"})
    prefix: str = "rdf"
    base: str = ""
    missing: set[str] = field(default_factory=set)
    used: set[tuple[str, str]] = field(default_factory=set)

    @property
    def has_default(self) -> bool:
        """Whether names without a prefix have a namespace."""
        return "" in self.prefixes

    def rdf(self, term: str) -> str:
        """A term of RDF with its prefix."""
        return f"{self.prefix}:{term}"

    def has(self, tag: Tag, *terms: str) -> bool:
        """Whether the element has one of these attributes of RDF, with or without the prefix."""
        return any(self.rdf(term) in tag.attributes or term in tag.attributes for term in terms)

    def inside(self, tag: Tag) -> Attributes:
        """What holds in an element with that tag."""
        declared = {name: value for name, value in tag.attributes.items() if name.startswith("xmlns") and value}
        base = tag.attributes.get("xml:base", self.base)
        if not declared and base == self.base:
            return self
        prefixes = {name.removeprefix("xmlns").removeprefix(":"): self._expanded(value) for name, value in declared.items()}
        own = next((prefix for prefix, iri in prefixes.items() if iri == RDF and prefix), self.prefix)
        return replace(self, prefixes=self.prefixes | prefixes.keys(), prefix=own, base=base)

    def holds(self, tag: Tag) -> Literal["nodes", "properties", "markup"]:
        """The kind of the children of a property."""
        kind = tag.attributes.get(self.rdf("parseType"))
        return "nodes" if kind in (None, "Collection", "daml:collection") else "properties" if kind == "Resource" else "markup"

    def is_collection(self, tag: Tag) -> bool:
        """Whether a property may hold more than one node."""
        return self.has(tag, "parseType")

    def subject(self, tag: Tag) -> dict[str, str]:
        """The attribute that identifies the same node in another element; none for a node without an identifier."""
        for term in ("about", "nodeID", "ID"):
            for name in (self.rdf(term), term):
                if name in tag.attributes:
                    value = tag.attributes[name]
                    return {self.rdf("about"): f"#{value}"} if term == "ID" else {self.rdf(term): value}
        return {}

    def undeclared(self) -> dict[str, str]:
        """Declarations of the prefixes that the document does not declare."""
        if self.prefix not in self.prefixes:
            self.missing.add(self.prefix)
        return {
            f"xmlns:{prefix}" if prefix else "xmlns": NAMESPACES.get(prefix, f"{UNKNOWN}{prefix}#")
            for prefix in sorted(self.missing)
        }

    def mended_root(self, tag: Tag) -> dict[str, str]:
        """The attributes of the root element: nothing but declarations, base and language."""
        self._check_prefix(tag.name, tag)
        kept = {name: value for name, value in tag.attributes.items() if name.startswith(("xmlns", "xml:"))}
        declared = kept.get(f"xmlns:{self.prefix}")
        if declared is not None and self._expanded(declared) != RDF:
            self.note(f'xmlns:{self.prefix}="{declared}"', "not the namespace of RDF")
            kept[f"xmlns:{self.prefix}"] = RDF
        return kept

    def mended(self, tag: Tag, kind: Literal["node", "property", "markup"]) -> dict[str, str]:
        """The attributes of an element with what is wrong in them put right."""
        self._check_prefix(tag.name, tag)
        mended: dict[str, str] = {}
        for name, value in tag.attributes.items():
            if ":" not in name and name in TERMS and kind != "markup":
                self._note(tag, f"{name} without the prefix of RDF")
                name = self.rdf(name)
            elif ":" not in name and name != "xmlns" and kind != "markup":
                self._note(tag, f"{name} without a prefix", is_lost=True)
                continue
            self._check_prefix(name, tag, is_attribute=True)
            prefix, _, term = name.partition(":")
            if prefix == self.prefix and kind != "markup":
                self._identify(tag, term, value, kind, mended)
            else:
                mended[name] = value
        return mended

    def _identify(self, tag: Tag, term: str, value: str, kind: str, mended: dict[str, str]) -> None:
        """Adds an attribute of RDF."""
        name = self.rdf(term)
        if term == "bagID":
            return self._note(tag, "bagID does not exist any more")
        if term in ALONE and any(self.rdf(other) in mended for other in ALONE) and not (kind == "property" and term == "ID"):
            return self._note(tag, f"{name} beside another identifier")
        if term == "ID":
            if not IDENTIFIER.fullmatch(value):
                self._note(tag, f"{value!r} is not a valid {name}")
            elif (self.base, value) in self.used:
                self._note(tag, f"the {name} {value!r} twice")
            else:
                self.used.add((self.base, value))
                mended[name] = value
                return
            if kind == "node":
                mended[self.rdf("about")] = f"#{value}"
        elif term == "nodeID" and not IDENTIFIER.fullmatch(value):
            self._note(tag, f"{value!r} is not a valid {name}")
            mended[name] = "_" + re.sub(r"[^\w.\-]", lambda found: f"_{ord(found[0]):x}_", value)
        else:
            mended[name] = value

    def _check_prefix(self, name: str, tag: Tag, is_attribute: bool = False) -> None:
        prefix, colon, _ = name.partition(":")
        prefix = prefix if colon else ""
        if prefix not in self.prefixes and not (is_attribute and not colon):
            self.missing.add(prefix)
            self._note(tag, f"the prefix {prefix}: is not declared" if prefix else "a name without a prefix")

    def _note(self, tag: Tag, reason: str, is_lost: bool = False) -> None:
        self.note(write_tag(tag.name, tag.attributes), reason, is_lost)

    def _expanded(self, value: str) -> str:
        """The IRI of a namespace that may be written with an entity."""
        return re.sub(r"&([\w.\-]+);", lambda found: self.entities.get(found[1], found[0]), value)
