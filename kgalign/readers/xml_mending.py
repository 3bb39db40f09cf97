"""RDF/XML that breaks the rules, as RDF/XML that keeps them."""

from __future__ import annotations

import re

from kgalign.readers.xml_attributes import RDF
from kgalign.readers.xml_elements import Elements
from kgalign.readers.xml_parts import Mended, Note
from kgalign.readers.xml_roles import find_roles
from kgalign.readers.xml_tags import PLAIN_NAME, escape, mend_references, read_tag, write_tag

ENTITY = re.compile(rf"<!ENTITY\s+({PLAIN_NAME})\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")
DOCTYPE = re.compile(r"<!DOCTYPE[^\[<>]*(?:\[(.*?)\]\s*)?>", re.DOTALL)


def mend_xml(text: str) -> Mended:
    """The document with everything mended that can be understood; none of it where nothing in it is RDF, as in a web page."""
    if text.strip() and "rdf:" not in text and RDF not in text:
        return Mended("", [], "", [Note(1, " ".join(text[:400].split())[:80], "nothing in it is RDF", is_lost=True)])
    scanner = _Scanner(text)
    scanner.run()
    elements, entities = scanner.elements, scanner.entities
    name = elements.root.name or elements.attributes.rdf("RDF")
    declared = "".join(f'<!ENTITY {key} "{value.replace(chr(34), "&#34;")}">' for key, value in entities.items())
    doctype = f"<!DOCTYPE {name} [{declared}]>" if declared else ""
    opening = doctype + write_tag(name, {**elements.root.attributes, **elements.attributes.undeclared()})
    return Mended(opening, elements.elements, f"</{name}>", elements.notes)


class _Scanner:
    """Reads a document from its beginning to its end."""

    def __init__(self, text: str) -> None:
        begin = text.find("<!DOCTYPE")
        found = DOCTYPE.match(text, begin) if begin >= 0 else None
        self.text = text
        self.entities: dict[str, str] = {}
        for name, double, single in ENTITY.findall((found[1] or "") if found else ""):
            if not {"<", ">"} & {*double, *single}:  # the parser knows entities of plain text only
                self.entities.setdefault(name, double or single)  # of two declarations the first one holds
        self.elements = Elements(self.entities, find_roles(text))

    def run(self) -> None:
        text, at = self.text, 0
        missing: set[str] = set()  # ends that do not come any more
        while (found := text.find("<", at)) >= 0:
            self.characters(text[at:found])
            for begin, end in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!DOCTYPE", "")):
                if text.startswith(begin, found):
                    at = self.skip(begin, end, found, missing)
                    break
            else:
                at = self.tag(found)
        self.characters(text[at:])
        self.elements.finish()

    def skip(self, begin: str, end: str, at: int, missing: set[str]) -> int:
        """The place after something that is not a tag."""
        start = at + len(begin)
        if not end:
            found = DOCTYPE.match(self.text, at) if begin not in missing else None
            stop = after = found.end() if found else start
            missing.update(() if found else (begin,))
        else:
            stop = -1 if end in missing else self.text.find(end, start)
            after = stop + len(end)
        if stop < 0:
            missing.add(end)
            self.elements.note(self.text[at : at + 80], f"{end} is missing")
            stop = after = self.text.find("<", start) if begin == "<![CDATA[" else self.text.find(">", start) + 1
            stop = after = stop if stop > 0 else len(self.text)
        if begin == "<![CDATA[":
            self.elements.put(escape(self.text[start:stop]), bool(self.text[start:stop].strip()))
        self.elements.line += self.text.count("\n", at, after)
        return after

    def characters(self, found: str) -> None:
        """Text between tags."""
        if found:
            problems: list[str] = []
            mended = mend_references(found, self.entities, problems)
            begin = len(found) - len(found.lstrip())
            for problem in problems:
                self.elements.note(found.strip(), problem, line=self.elements.line + found.count("\n", 0, begin))
            self.elements.put(mended, not found.isspace())
            self.elements.line += found.count("\n")

    def tag(self, at: int) -> int:
        """The place after the tag that begins there, or after a `<` that begins none."""
        found = read_tag(self.text, at, self.entities)
        if found is None:
            self.elements.note(self.text[at : at + 80], "< is not escaped")
            self.elements.put("&lt;", True)
            return at + 1
        tag, end = found
        for problem in tag.problems:
            self.elements.note(self.text[at:end], problem)
        if tag.is_end:
            self.elements.end(tag.name)
        else:
            self.elements.begin(tag)
        self.elements.line += self.text.count("\n", at, end)
        return end
