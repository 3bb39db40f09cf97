"""Where the sentences of Turtle end, found without parsing them, so that no text inside of a literal is taken for one."""

from __future__ import annotations

import re

AFTER_DOT = rb"[ \t\r]*(?:\#[^\n]*+)?\n"
END = re.compile(rb"\." + AFTER_DOT)
# Text, short literals, IRIs, comments and escapes; quotes and brackets that are not closed on their line; dots that end no line.
OUTSIDE = re.compile(
    rb"""(?:
        [^."'<\#\\]++
      | "(?!"")(?:[^"\\\n]++|\\[^\n])*+"
      | '(?!'')(?:[^'\\\n]++|\\[^\n])*+'
      | "(?!"") | '(?!'')
      | <[^<>"\n]*+> | <
      | \#[^\n]*+
      | \\.?
      | \.(?!"""
    + AFTER_DOT
    + rb"""))*+""",
    re.DOTALL | re.VERBOSE,
)
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
