"""Language tags of RDF, in the different forms that people write them in."""

from __future__ import annotations

NO_TAGS = ("none", "und", "zxx", "mul")  # "none", and the tags that name no language
THREE_LETTERS = {
    "ara": "ar", "chi": "zh", "zho": "zh", "cze": "cs", "ces": "cs", "dan": "da", "deu": "de", "dut": "nl", "nld": "nl", "eng": "en",
    "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gre": "el", "ell": "el", "heb": "he", "hun": "hu", "ita": "it", "jpn": "ja",
    "kor": "ko", "lat": "la", "nor": "no", "per": "fa", "fas": "fa", "pol": "pl", "por": "pt", "rum": "ro", "ron": "ro", "rus": "ru",
    "spa": "es", "swe": "sv", "tur": "tr", "ukr": "uk",
}  # fmt: skip


def plain_tag(tag: str) -> str:
    """The same tag, "" for one that names no language, such as `und`."""
    return "" if tag.lower() in NO_TAGS else tag


def main_language(tag: str) -> str:
    """The language of a tag without script and country: `en` for `en-GB`. Codes of three letters become the usual ones: `fr` for `fre`."""
    language = plain_tag(tag).lower().split("-")[0].split("_")[0]
    return THREE_LETTERS.get(language, language)
