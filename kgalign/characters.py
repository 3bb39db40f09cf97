"""Control characters as escapes such as \\t and \\x1b: in tables, where they would end a field, and on terminals, which would obey them."""

from __future__ import annotations

import json
import re
from typing import Any

# Line ends, tabs and commands for terminals, signs that turn a text round, and halves of characters: Python has them for bytes of file names
# that are not UTF-8.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
ESCAPE = re.compile(r"\\(?:([\\tnr])|x([0-9a-f]{2})|u([0-9a-f]{4}))")
HALF = re.compile("[\ud800-\udfff]")
SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}
MEANINGS = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def escaped(text: str) -> str:
    r"""The text without control characters. `unescaped` gives it back, so a backslash that begins an escape is doubled, too.

    >>> print(escaped("two\tcells"), escaped("C:/x"), escaped("\\alpha"))
    two\tcells C:/x \alpha
    """
    if not CONTROL.search(text) and not ESCAPE.search(text):
        return text
    return CONTROL.sub(_escape, text.replace("\\", "\\\\"))


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return ESCAPE.sub(_meaning, text) if "\\" in text else text


def shown(text: str) -> str:
    """The text for a terminal or a log: control characters are shown, and only line feeds do what they mean."""
    return CONTROL.sub(lambda found: "\n" if found[0] == "\n" else _escape(found), text)


def whole_characters(text: str) -> str:
    """The text as UTF-8 can hold it: the half characters that escapes of JSON can make are U+FFFD."""
    return text if text.isascii() else HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def first_line(error: BaseException) -> str:
    """What an error says on its first line, or its kind if it says nothing."""
    return next(iter(str(error).splitlines()), "").strip() or type(error).__name__


def json_text(value: Any, indent: int | None = None, default: Any = str) -> str:
    """The value as JSON that is UTF-8 whatever it holds, and shows what a terminal would obey."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, default=default)
    return CONTROL.sub(
        lambda found: "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )  # JSON has escaped all others itself


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _meaning(found: re.Match[str]) -> str:
    return MEANINGS[found[1]] if found[1] else chr(int(found[2] or found[3], 16))
