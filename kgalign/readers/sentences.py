"""Where the sentences of Turtle and TriG end, found without parsing them, so that no text inside of a literal is taken for one."""

from __future__ import annotations

import re

AFTER_DOT = rb"[ \t\r]*(?:\#[^\n]*+)?\n"
END = re.compile(rb"\." + AFTER_DOT)
# Text, short literals, IRIs, comments and escapes; quotes and brackets that are not closed on their line; dots that end no line.
TEXT = (
    rb"""(?:
        [^."'<\#\\%b]++
      | "(?!"")(?:[^"\\\n]++|\\[^\n])*+"
      | '(?!'')(?:[^'\\\n]++|\\[^\n])*+'
      | "(?!"") | '(?!'')
      | <[^<>"\n]*+> | <
      | \#[^\n]*+
      | \\.?
      | %b
      | \.(?!"""
    + AFTER_DOT
    + rb"""))*+"""
)
OUTSIDE = re.compile(TEXT % (b"", b"(?!)"), re.DOTALL | re.VERBOSE)  # of long literals
OUTSIDE_AND_FLAT = re.compile(TEXT % (b"{}", rb"\{\| | (?<=\|)\}"), re.DOTALL | re.VERBOSE)  # and of graphs in TriG
GRAPH_NAME = re.compile(rb"""(?:\bgraph\s+)?(?:<[^<>"\n]*>|\[\s*\]|(?<![^\s<>{}"';,])[^\s<>{}"';,]++(?<!\.))?\Z""", re.IGNORECASE)
LONGEST_NAME = 4096  # bytes of the name of a graph
LONG_LITERALS = {  # by their quotes
    b'"""': re.compile(rb'"{3}(?:[^"\\]++|\\.|"(?!""))*+"{3}', re.DOTALL),
    b"'''": re.compile(rb"'{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}", re.DOTALL),
}
FOLLOWS = re.compile(rb"\s*+(?:[.;,\])#~|]|@[A-Za-z]|\^\^|\Z)")  # what may come after a literal, except in lists


def find_end(text: bytes, begin: int, is_broken: bool = False) -> tuple[int, int]:
    """The end of a sentence, and the place of a long literal that the text does not close; -1 where there is none.

    Args:
        text: Some sentences; the last one may not be whole.
        begin: Where the sentence begins.
        is_broken: It cannot be parsed. If something follows the end of a literal that cannot follow it, the quotes there are the first ones
            of another literal, and the last ones of the literal are missing: all up to there is one broken sentence. Otherwise all texts after
            it would be turned inside out.
    """
    at = begin
    while found := OUTSIDE.match(text, at):
        at = found.end()
        if ended := END.match(text, at):
            return ended.end(), -1
        literal = LONG_LITERALS.get(text[at : at + 3])
        if literal is None:
            break
        closed = literal.match(text, at)
        if closed is None:
            return -1, at
        at = closed.end()
        if is_broken and not FOLLOWS.match(text, at):
            at -= 3
    return -1, -1


def without_graphs(text: bytes) -> bytes:
    """TriG as Turtle: without the names and the braces of graphs, on the same lines."""
    written = bytearray()
    begin = at = 0  # of the sentence in what is written; of the text that is not read yet
    while found := OUTSIDE_AND_FLAT.match(text, at):
        written += found[0]
        at = found.end()
        literal = LONG_LITERALS.get(text[at : at + 3])
        if ended := END.match(text, at):
            written += ended[0]
            begin, at = len(written), ended.end()
        elif text[at : at + 1] == b"{":
            sentence = written[begin:].rstrip()
            lines = written.count(b"\n", begin)
            name = GRAPH_NAME.search(sentence, max(0, len(sentence) - LONGEST_NAME))
            written[begin:] = sentence[: name.start()] if name else sentence
            written += b" " + b"\n" * (lines - written.count(b"\n", begin))
            begin, at = len(written), at + 1
        elif text[at : at + 1] == b"}":
            is_open = bool(last := written[begin:].rstrip()) and not last.endswith(b".")  # the last dot in braces may be left out
            written += b" . " if is_open else b" "
            begin, at = len(written), at + 1
        elif literal is not None and (closed := literal.match(text, at)):
            written += closed[0]
            at = closed.end()
        else:
            return bytes(written + text[at:])
    return bytes(written)
