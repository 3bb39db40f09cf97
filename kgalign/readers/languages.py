"""The language of the names: found out for both graphs together, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kgalign.data import Ints
from kgalign.errors import OptionError
from kgalign.language_tags import main_language, plain_tag
from kgalign.seams import Statements

NO_LANGUAGE = "none"
Shares = Mapping[str, float]  # by language, the most frequent first; "" for names without a language


def choose_languages(shares: Sequence[Shares], languages: Sequence[str] = ()) -> list[str]:
    """The language of the names for each graph.

    It decides which name is shown, and where `languages` is given, which names count. Without `languages`, all graphs get the language in
    which most entities of each have a name, English where several are equal. If no language reaches half of the entities of every graph,
    each graph gets its own most frequent one.

    Args:
        shares: The share of named entities with a name in each language, for each graph.
        languages: One language for all graphs, or one for each, such as `en`; `none` or `und` for names without a language.
    """
    if languages:
        return _check_languages(shares, languages)
    common = set.intersection(*(set(share) for share in shares)) - {""}
    best = max(sorted(common), key=lambda language: (min(share[language] for share in shares), language == "en"), default="")
    if best and min(share[best] for share in shares) >= 0.5:
        return [best] * len(shares)
    return [next(iter(share), "") for share in shares]


def language_shares(side: Statements, rows: Ints) -> Shares:
    """The share of named entities that have a name in each language.

    Args:
        side: The statements of one graph.
        rows: (n,) the literals that are names.
    """
    named = max(1, len(np.unique(side.facts[rows, 0])))
    languages = side.language_of[rows]
    entities: dict[str, list[Ints]] = {}
    for number in np.unique(languages).tolist():
        entities.setdefault(main_language(side.languages[number]), []).append(side.facts[rows[languages == number], 0])
    shares = {language: len(np.unique(np.concatenate(parts))) / named for language, parts in entities.items()}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def languages_text(shares: Shares) -> str:
    """The most frequent languages with their shares, for people."""
    return ", ".join(f"{language or NO_LANGUAGE} ({share:.0%})" for language, share in list(shares.items())[:8])


def _check_languages(shares: Sequence[Shares], languages: Sequence[str]) -> list[str]:
    """The given language for each graph, if its names have it."""
    wanted = [plain_tag(language) for language in (list(languages) * len(shares) if len(languages) == 1 else languages)]
    if len(wanted) != len(shares):
        raise OptionError(f"`languages` {','.join(languages)}: expected one language, or one for each of the {len(shares)} graphs")
    for share, language in zip(shares, wanted, strict=True):
        if share and main_language(language) not in share:
            raise OptionError(
                f"`languages` {language or NO_LANGUAGE}: no name is in this language; there are {languages_text(share)}"
            )
    return wanted
