"""The elements of RDF/XML whose tags do not fit together, put together.

Each tag is compared with the elements that are open. The rules of RDF/XML, by which nodes and properties alternate, tell most often which tag
is missing or stands in the wrong place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kgalign.readers.xml_attributes import Attributes
from kgalign.readers.xml_parts import Element, Note
from kgalign.readers.xml_roles import Roles
from kgalign.readers.xml_tags import Tag, escape, write_tag

Holds = Literal["nodes", "properties", "markup"]
KEPT_NOTES = 1000  # of lost parts, and of mended ones; the others are only counted, since a file of `<` has one for each byte
MORE = {is_lost: Note(1, "", "", is_lost) for is_lost in (True, False)}
LONGEST_LOOSE = 1 << 16  # characters of text outside of any property that are kept, until it is known to which property they belong


@dataclass
class _Open:
    """An element that is not closed yet.

    Attributes:
        tag: Its start tag.
        line: The number of the line of that tag.
        holds: The kind of its children; `markup` is XML inside a literal.
        begin: The position of the tag in the pieces.
        attributes: The namespaces and the base that hold in it.
        has_text: It holds text that is not blank.
        has_children: It holds elements.
        is_inserted: The document has no tag for it.
        is_lost: It is left out, since its subject is not known.
    """

    tag: Tag
    line: int
    holds: Holds
    begin: int
    attributes: Attributes
    has_text: bool = False
    has_children: bool = False
    is_inserted: bool = False
    is_lost: bool = False


class Elements:
    """Puts the elements of a document together, tag by tag.

    Attributes:
        root: The start tag of the root.
        line: The number of the current line.
        notes: What was wrong.
        elements: The node elements that are complete.
    """

    def __init__(self, entities: Mapping[str, str], roles: Roles) -> None:
        """No element yet; `entities` are those of the document, with their values."""
        self.root = Tag("", {})
        self.line = 1
        self.notes: list[Note] = []
        self._noted = Counter[bool]()
        self.elements: list[Element] = []
        self._roles = roles
        self._is_closed = False  # the end tag of the root was there
        self._stack = [_Open(self.root, 1, "nodes", 0, Attributes(entities, self.note))]
        self._names = Counter[str]()  # of the elements in the stack, to find one at once
        self._pieces: list[str] = []
        self._properties: list[tuple[int, int, int]] = []
        self._loose: tuple[str, int] | None = None  # text in a node, where only properties may be, and its line
        self._cut: tuple[Tag, int] | None = None  # a node that was closed though its own end tag may come, and the nodes since

    @property
    def attributes(self) -> Attributes:
        """The namespaces and the base of the root."""
        return self._stack[0].attributes

    def note(self, text: str, reason: str, is_lost: bool = False, line: int = 0) -> None:
        """Remembers something that was wrong, on the current line or on another."""
        self._noted[is_lost] += 1
        is_kept = self._noted[is_lost] <= KEPT_NOTES
        self.notes.append(Note(line or self.line, " ".join(text.split())[:80], reason, is_lost) if is_kept else MORE[is_lost])

    def put(self, found: str, is_visible: bool) -> None:
        """Text, already escaped, in its place."""
        top = self._stack[-1]
        if top.holds == "markup":
            self._pieces.append(found)
        elif len(self._stack) == 1 or top.holds == "properties":
            if self._loose is not None:
                text, line = self._loose
                self._loose = (text + found if len(text) < LONGEST_LOOSE else text, line)
            elif is_visible:
                begin = len(found) - len(found.lstrip())
                self._loose = (found, self.line + found.count("\n", 0, begin))
        elif is_visible and top.has_children:
            self.note(found.strip(), "text beside an element", is_lost=True)
        else:
            top.has_text |= is_visible
            self._pieces.append(found)

    def begin(self, tag: Tag) -> None:
        """Opens the root or an element in it."""
        is_root = tag.name == self.attributes.rdf("RDF") or (not self.root.name and tag.name.rpartition(":")[2] == "RDF")
        if is_root and self._stack[-1].holds != "markup":
            return self._begin_root(tag)
        self._drop_loose()
        self._start(tag)

    def _begin_root(self, tag: Tag) -> None:
        if self.root.name:
            return self.note(write_tag(tag.name, {}), "a second root")
        del self._stack[1:]  # elements of another kind of XML, in which the graph is embedded
        self._names.clear()
        self._pieces, self._properties, self.elements, self._loose = [], [], [], None
        self.root = tag
        self._stack[0].attributes = attributes = self._stack[0].attributes.inside(tag)
        self.root = replace(tag, attributes=attributes.mended_root(tag))
        if tag.is_empty:
            self._is_closed = True

    def end(self, name: str) -> None:
        """Closes an element, and what is open inside of it."""
        top = self._stack[-1]
        if top.tag.name == name and self._loose is None and len(self._stack) > 1 and not top.is_inserted:
            return self._close()
        if self._loose is not None and not self._names[name] and len(self._stack) > 1 and top.holds == "properties":
            (text, line), self._loose = self._loose, None
            self.note(text, f"<{name}> is missing", line=line)
            self._push(Tag(name, {}), "property")
            self._pieces.append(text.strip())
            return self._close()
        self._drop_loose()
        if len(self._stack) > 1 and top.tag.name == name and not (top.is_inserted and self._names[name] > 1):
            return self._close()
        if name == self.root.name:
            if len(self._stack) > 1:
                self._note_unclosed(top)
            self._close_all()
            self._is_closed = True
        elif self._names[name]:
            self.note(f"</{name}>", f"</{top.tag.name}> is missing")
            while self._stack[-1].tag.name != name:
                self._close(is_cut=True)
            if len(self._stack) == 2:
                self._cut = (self._stack[-1].tag, 0)
            self._close()
        elif top.is_inserted:
            self._cut = None if self._cut and self._cut[0].name == name else self._cut
            self._close()
        elif top.has_text and ":" not in name and not top.attributes.has_default:
            self.note(f"</{name}>", "markup in a text")
            self._pieces.append(escape(f"</{name}>"))
        elif len(self._stack) > 1 and top.holds != "properties" and not self._roles.is_node_name(name):
            self.note(f"</{name}>", f"expected </{top.tag.name}>")
            self._close()
        elif self._cut is None or self._cut[0].name != name:
            self.note(f"</{name}>", "an end tag without its start tag")
        else:
            self._cut = None

    def finish(self) -> None:
        """Closes what is open at the end of the document."""
        self._drop_loose()
        top = self._stack[-1]
        if len(self._stack) > 1:
            is_value = self._stack[-1].holds != "properties" and not top.is_inserted
            self._note_tag(top.tag, f"the document ends inside <{top.tag.name}>", is_value, top.line)
            if is_value:
                self._discard()  # no more than a part of its value is there
        elif self.root.name and not self._is_closed:
            self.note(write_tag(self.root.name, {}), f"</{self.root.name}> is missing")
        self._close_all()

    def _start(self, tag: Tag) -> None:
        """Opens an element, after what must be closed or opened before it."""
        top = self._stack[-1]
        if top.holds == "markup":
            return self._push(tag, "markup")
        if top.holds == "properties":
            if not self._roles.is_node(tag, self.attributes):
                return self._push(tag, "property")
            if tag == top.tag and not top.has_children:
                return self._note_tag(tag, "a tag twice")
            if not top.is_inserted:
                self._note_unclosed(top)
            self._close_all(is_cut=True)
            return self._start(tag)
        if len(self._stack) == 1:
            return self._start_top(tag)
        if top.has_text and ":" not in tag.name and not top.attributes.has_default:
            self._note_tag(tag, "markup in a text")
            return self._pieces.append(escape(write_tag(tag.name, tag.attributes, tag.is_empty)))
        has_object = top.attributes.has(top.tag, "resource", "nodeID")
        if top.has_text or has_object or (top.has_children and self._roles.is_property(tag, self.attributes)):
            self._note_unclosed(top)
            self._close(is_cut=True)
            return self._start(tag)
        if top.has_children and not top.attributes.is_collection(top.tag):
            self._note_tag(tag, "two nodes in one property")
            again = top.tag
            self._close()
            self._push(again, "property")
        elif tag.name == top.tag.name and (tag.attributes == top.tag.attributes or self._roles.is_property(tag, self.attributes)):
            self._note_tag(top.tag, "a tag twice", line=top.line)
            self._discard()
            return self._start(tag)
        elif self._roles.is_property(tag, self.attributes):
            self._note_tag(tag, "a property outside of any node")
            self._insert({})
            return self._start(tag)
        self._push(tag, "node")

    def _start_top(self, tag: Tag) -> None:
        """Opens an element that stands in no other."""
        if self._is_closed:
            self._note_tag(tag, "an element after the end of the document")
            self._is_closed = False
        if self._roles.is_node(tag, self.attributes) or not self._roles.is_property(tag, self.attributes):
            if self._cut is not None:
                self._cut = (self._cut[0], self._cut[1] + 1) if self._cut[1] < 1 else None
            return self._push(tag, "node")
        subject = self.attributes.subject(self._cut[0]) if self._cut else {}
        if not subject:
            self._note_tag(tag, "the start tag of its node is missing", is_lost=True)
        self._insert(subject, is_lost=not subject)
        self._start(tag)

    def _push(self, tag: Tag, kind: Literal["node", "property", "markup"]) -> None:
        top = self._stack[-1]
        top.has_children = True
        attributes = top.attributes.inside(tag)
        mended = replace(tag, attributes=attributes.mended(tag, kind))
        holds: Holds = "markup" if kind == "markup" else "properties"
        if kind == "property":
            holds = attributes.holds(mended)
        self._stack.append(_Open(tag, self.line, holds, len(self._pieces), attributes))
        self._names[tag.name] += 1
        self._pieces.append(write_tag(mended.name, mended.attributes))
        if tag.is_empty:
            self._close()

    def _insert(self, attributes: dict[str, str], is_lost: bool = False) -> None:
        """Opens a node for which the document has no tag."""
        self._push(Tag(self.attributes.rdf("Description"), attributes), "node")
        self._stack[-1].is_inserted, self._stack[-1].is_lost = True, is_lost

    def _close(self, is_cut: bool = False) -> None:
        """Closes the innermost element; `is_cut`: before its own end tag."""
        closed = self._stack.pop()
        self._names[closed.tag.name] -= 1
        if is_cut and closed.has_text:
            self._pieces[-1] = self._pieces[-1].rstrip()  # the space before the next tag is none of its text
        last = len(self._stack) == 1
        if self._pieces[-1:] and len(self._pieces) == closed.begin + 1 and closed.tag.is_empty:
            self._pieces[-1] = self._pieces[-1].removesuffix(">") + "/>"
        else:
            self._pieces.append(f"</{closed.tag.name}>")
        if not last and self._stack[-1].holds == "properties":
            self._properties.append((closed.begin, len(self._pieces), closed.line))
        if last:
            if not closed.is_lost:
                self.elements.append(Element(closed.line, self._pieces, self._properties))
            self._pieces, self._properties = [], []

    def _discard(self) -> None:
        """Leaves out the innermost element."""
        opened = self._stack.pop()
        self._names[opened.tag.name] -= 1
        del self._pieces[opened.begin :]

    def _close_all(self, is_cut: bool = False) -> None:
        """Closes all elements but the root; `is_cut`: the outermost may go on later."""
        if is_cut and len(self._stack) > 1 and not self._stack[1].is_inserted:
            self._cut = (self._stack[1].tag, 0)
        while len(self._stack) > 1:
            self._close(is_cut=True)

    def _drop_loose(self) -> None:
        """Leaves out text that belongs to nothing."""
        if self._loose is not None:
            text, line = self._loose
            self._loose = None
            if not self._stack[-1].is_lost:
                self.note(text.strip(), "text outside of any property", is_lost=True, line=line)

    def _note_tag(self, tag: Tag, reason: str, is_lost: bool = False, line: int = 0) -> None:
        self.note(write_tag(tag.name, tag.attributes), reason, is_lost, line)

    def _note_unclosed(self, opened: _Open) -> None:
        self._note_tag(opened.tag, f"</{opened.tag.name}> is missing", line=opened.line)
