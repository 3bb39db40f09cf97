"""Make the bundled demo: two pairs of graphs about the world, from the Unicode CLDR data that Babel carries.

    pip install babel
    python scripts/make_demo.py [OUT_FOLDER]

Every fact and every name is CLDR's; only the words for relations and kinds are written here. The same Babel version
gives the same bytes again.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

try:
    import babel
    from babel.core import Locale, get_global, parse_locale
    from babel.localedata import locale_identifiers
except ModuleNotFoundError:
    sys.exit("make_demo.py needs Babel: pip install babel")

OUT_FOLDER = Path(__file__).parents[1] / "kgalign" / "datasets" / "demo"
PAIRS = (("fr", "en"), ("zh", "en"))
SEED = 2025
ENTITY_SHARE = 0.92  # drawn for each side by itself, so that some entities have no counterpart
FACT_SHARE = 0.8  # likewise, so that the two graphs differ in shape
HUB_FACTS = 40  # an entity of more facts always stays: no graph lacks the Latin script or the United States
PLACEHOLDERS = {"und", "ZZ", "XXX", "XTS"}  # codes for "unknown" and for tests, not things of the world
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

OFFICIAL_STATUS = {
    "official": "officialLanguage",
    "official_regional": "regionalOfficialLanguage",
    "de_facto_official": "deFactoOfficialLanguage",
    None: "spokenLanguage",
}

# Relations, attributes and kinds of entities, in English and as the other sides call them.
WORDS = {
    "territory": {"fr": "territoire", "zh": "地区"},
    "language": {"fr": "langue", "zh": "语言"},
    "script": {"fr": "écriture", "zh": "文字"},
    "currency": {"fr": "monnaie", "zh": "货币"},
    "time zone": {"fr": "fuseau horaire", "zh": "时区"},
    "time": {"fr": "heure", "zh": "时间"},
    "officialLanguage": {"fr": "langueOfficielle", "zh": "官方语言"},
    "regionalOfficialLanguage": {"fr": "langueOfficielleRégionale", "zh": "地区官方语言"},
    "deFactoOfficialLanguage": {"fr": "langueOfficielleDeFait", "zh": "事实官方语言"},
    "spokenLanguage": {"fr": "langueParlée", "zh": "使用语言"},
    "mainLanguage": {"fr": "languePrincipale", "zh": "主要语言"},
    "varietyOf": {"fr": "variétéDe", "zh": "所属语言"},
    "mainTerritory": {"fr": "territoirePrincipal", "zh": "主要地区"},
    "localizedFor": {"fr": "adaptéePour", "zh": "本地化地区"},
    "usedIn": {"fr": "utiliséeEn", "zh": "使用地区"},
    "conventionsFrom": {"fr": "suitLesUsagesDe", "zh": "惯例来源"},
    "formerCurrency": {"fr": "ancienneMonnaie", "zh": "旧货币"},
    "nonTenderCurrency": {"fr": "monnaieSansCoursLégal", "zh": "非法定货币"},
    "observedTime": {"fr": "heureObservée", "zh": "采用时间"},
    "decimalDigits": {"fr": "nombreDeDécimales", "zh": "小数位数"},
    "introduced": {"fr": "miseEnCirculation", "zh": "启用日期"},
    "textDirection": {"fr": "sensDeLecture", "zh": "书写方向"},
}

Row = tuple[str, ...]


class Entity(NamedTuple):
    """A thing that CLDR has a code for."""

    kind: str
    code: str


class Fact(NamedTuple):
    """A relation that CLDR states between two things."""

    head: Entity
    relation: str
    tail: Entity


@dataclass(frozen=True)
class Side:
    """One graph of a pair, with the IRI that each of its entities got."""

    iris: dict[Entity, str]
    relation_rows: list[Row]
    attribute_rows: list[Row]


def make_demo(out_folder: Path) -> list[str]:
    """Return a line of counts for each pair, after writing the pairs and the licence of their data."""
    facts = sorted({*language_facts(), *script_facts(), *currency_facts(), *zone_facts(), *locale_facts()})
    lines = []
    for source_language, target_language in PAIRS:
        name = f"{source_language}_{target_language}"
        source = make_side(source_language, facts, random.Random(f"{SEED} {name} source"))
        target = make_side(target_language, facts, random.Random(f"{SEED} {name} target"))
        links = [(iri, target.iris[entity]) for entity, iri in sorted(source.iris.items()) if entity in target.iris]
        random.Random(f"{SEED} {name} links").shuffle(links)
        write_pair(out_folder / name, source, target, links)
        lines.append(f"{name}: {count_line(source)} | {count_line(target)} | {len(links)} links")
    shutil.copyfile(Path(babel.__file__).parent / "locale-data" / "LICENSE.unicode", out_folder / "LICENSE-UNICODE")
    return lines


def language_facts() -> Iterable[Fact]:
    """Yield which languages a territory speaks, how each is written and where it is at home."""
    for territory, spoken in get_global("territory_languages").items():
        for code, details in spoken.items():
            language, _, script = parse_locale(code)[:3]
            yield fact("territory", territory, OFFICIAL_STATUS[details["official_status"]], "language", language)
            yield fact("language", language, "script", "script", script)
    for code, likely in get_global("likely_subtags").items():
        language = parse_locale(code)[0]
        likely_territory, likely_script = parse_locale(likely)[1:3]
        yield fact("language", language, "script", "script", likely_script)
        if "_" not in code:
            yield fact("language", language, "mainTerritory", "territory", likely_territory)
    for variety in varieties():
        language, home, script = parse_locale(variety)[:3]
        yield fact("language", variety, "varietyOf", "language", language)
        yield fact("language", variety, "mainTerritory", "territory", home)
        yield fact("language", variety, "script", "script", script)


def script_facts() -> Iterable[Fact]:
    """Yield where a script is used, and the main language of scripts and of territories."""
    for code, likely in get_global("likely_subtags").items():
        language, territory, script = parse_locale(code)[:3]
        if language != "und" or code == "und":
            continue
        likely_language, likely_territory, likely_script = parse_locale(likely)[:3]
        if territory:
            yield fact("script", likely_script, "usedIn", "territory", territory)
        else:
            yield fact("script", script, "mainTerritory", "territory", likely_territory)
            yield fact("script", script, "mainLanguage", "language", likely_language)
        if not script:
            yield fact("territory", territory, "mainLanguage", "language", likely_language)


def currency_facts() -> Iterable[Fact]:
    """Yield the currencies of each territory, present and past."""
    for territory, currencies in get_global("territory_currencies").items():
        for code, _, end, is_tender in currencies:
            relation = "nonTenderCurrency" if not is_tender else "formerCurrency" if end else "currency"
            yield fact("territory", territory, relation, "currency", code)


def zone_facts() -> Iterable[Fact]:
    """Yield the territory of each time zone and the time that is kept there."""
    times = get_global("meta_zones")
    for zone, territory in get_global("zone_territories").items():
        yield fact("time zone", zone, "territory", "territory", territory)
        for spelling in zone_spellings(zone):
            if spelling in times:
                yield fact("time zone", zone, "observedTime", "time", times[spelling])


def locale_facts() -> Iterable[Fact]:
    """Yield where CLDR adapts a language to, and whose conventions that follows, as Austria's English does Europe's."""
    for identifier in locale_identifiers():
        language, territory, script = parse_locale(identifier)[:3]
        yield fact("language", language, "localizedFor", "territory", territory)
        yield fact("language", language, "script", "script", script)
    for child, parent in get_global("parent_exceptions").items():
        yield fact("territory", parse_locale(child)[1], "conventionsFrom", "territory", parse_locale(parent)[1])


def fact(head_kind: str, head: str | None, relation: str, tail_kind: str, tail: str | None) -> Fact:
    """Return the fact; an end that CLDR leaves open gets an empty code, which has no name and so drops out later."""
    return Fact(Entity(head_kind, head or ""), relation, Entity(tail_kind, tail or ""))


def varieties() -> list[str]:
    """Return the codes such as fr_CA that CLDR names as a language of their own."""
    return sorted({code for pair in PAIRS for side in pair for code in map(str, Locale(side).languages) if "_" in code})


def zone_spellings(zone: str) -> list[str]:
    """Return the zone and its aliases; CLDR still files Asia/Kolkata under Asia/Calcutta."""
    return [zone, *(alias for alias, canonical in get_global("zone_aliases").items() if canonical == zone)]


def make_side(language: str, facts: Sequence[Fact], rng: random.Random) -> Side:
    """Return the graph that one language's names and a random part of the facts make."""
    names = entity_names(Locale(language))
    named = [each for each in facts if each.head in names and each.tail in names]
    fact_counts = Counter(entity for each in named for entity in (each.head, each.tail))
    present = {entity for entity, count in fact_counts.items() if rng.random() < ENTITY_SHARE or count > HUB_FACTS}
    kept = [each for each in named if rng.random() < FACT_SHARE and each.head in present and each.tail in present]
    iris = make_iris(language, {entity: names[entity] for each in kept for entity in (each.head, each.tail)})
    literals = [each for each in literal_facts() if rng.random() < FACT_SHARE and each[0] in iris]
    relation_rows: list[Row] = [(iris[each.head], property_iri(language, each.relation), iris[each.tail]) for each in kept]
    attribute_rows: list[Row] = [(iri, LABEL, names[entity]) for entity, iri in iris.items()]
    attribute_rows += [(iris[entity], property_iri(language, word), value) for entity, word, value in literals]
    # The rows come sorted by code, which would tell the links.
    rng.shuffle(relation_rows)
    rng.shuffle(attribute_rows)
    return Side(iris, relation_rows, attribute_rows)


def entity_names(locale: Locale) -> dict[Entity, str]:
    """Return CLDR's display names in one language, less those that only repeat the code."""
    names = {Entity("territory", code): name for code, name in locale.territories.items()}
    names |= {Entity("language", code): name for code, name in locale.languages.items()}
    names |= {Entity("script", code): name for code, name in locale.scripts.items()}
    names |= {Entity("currency", code): name for code, name in locale.currencies.items()}
    for code, forms in locale.meta_zones.items():
        names[Entity("time", code)] = forms["long"].get("generic") or forms["long"]["standard"]
    for zone, territory in get_global("zone_territories").items():
        if territory in get_global("territory_zones") and not zone.startswith("Etc/"):
            names[Entity("time zone", zone)] = zone_city(locale, zone)
    return {
        entity: " ".join(name.split()) for entity, name in names.items() if name != entity.code and entity.code not in PLACEHOLDERS
    }


def zone_city(locale: Locale, zone: str) -> str:
    """Return a zone's city: where CLDR lists none, its rule takes the last part of the zone's identifier."""
    listed = (locale.time_zones.get(spelling, {}).get("city") for spelling in zone_spellings(zone))
    return next(filter(None, listed), zone.rpartition("/")[2].replace("_", " "))


def make_iris(language: str, names: dict[Entity, str]) -> dict[Entity, str]:
    """Return an IRI for each entity, made of its name and, where others share that, its kind and a number."""
    titles = {entity: name[0].upper() + name[1:] for entity, name in sorted(names.items())}
    title_counts = Counter(titles.values())
    iris: dict[Entity, str] = {}
    uses: Counter[str] = Counter()
    for entity, title in titles.items():
        if title_counts[title] > 1:
            title = f"{title} ({word_in(language, entity.kind)})"
        uses[title] += 1
        if uses[title] > 1:
            title = f"{title} {uses[title]}"
        iris[entity] = f"http://{language}.example.org/resource/{title.replace(' ', '_')}"
    return iris


def property_iri(language: str, word: str) -> str:
    """Return the IRI of a relation or an attribute."""
    return f"http://{language}.example.org/property/{word_in(language, word)}"


def word_in(language: str, word: str) -> str:
    """Return what a side calls a relation, an attribute or a kind."""
    return WORDS[word].get(language, word)


def literal_facts() -> list[tuple[Entity, str, str]]:
    """Return what CLDR says of single entities, in a fixed order."""
    literals = set()
    fractions = get_global("currency_fractions")
    for code in get_global("all_currencies"):
        literals.add((Entity("currency", code), "decimalDigits", str(fractions.get(code, fractions["DEFAULT"])[0])))
    for code, start in first_uses().items():
        literals.add((Entity("currency", code), "introduced", "{:04}-{:02}-{:02}".format(*start)))
    for identifier in locale_identifiers():
        if "_" not in identifier:
            direction = Locale(identifier).character_order
            literals.add((Entity("language", identifier), "textDirection", direction))
    return sorted(literals)


def first_uses() -> dict[str, tuple[int, int, int]]:
    """Return the day on which each currency was first used in any territory."""
    starts: dict[str, tuple[int, int, int]] = {}
    for currencies in get_global("territory_currencies").values():
        for code, start, _, _ in currencies:
            if start:
                starts[code] = min(start, starts.get(code, start))
    return starts


def write_pair(folder: Path, source: Side, target: Side, links: Sequence[tuple[str, str]]) -> None:
    """Write a pair in OpenEA's format, with one fold of 20 % train, 10 % valid and 70 % test links."""
    for number, side in enumerate((source, target), start=1):
        write_rows(folder / f"rel_triples_{number}.gz", side.relation_rows)
        write_rows(folder / f"attr_triples_{number}.gz", side.attribute_rows)
    train_end, valid_end = len(links) * 2 // 10, len(links) * 3 // 10
    write_rows(folder / "ent_links.gz", links)
    write_rows(folder / "721_5fold/1/train_links.gz", links[:train_end])
    write_rows(folder / "721_5fold/1/valid_links.gz", links[train_end:valid_end])
    write_rows(folder / "721_5fold/1/test_links.gz", links[valid_end:])


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows tab separated; the archive has neither name nor date in it, so equal rows give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    with path.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as archive:
        archive.write(text.encode())


def count_line(side: Side) -> str:
    """Return a side's counts in words."""
    relations = len({relation for _, relation, _ in side.relation_rows})
    return (
        f"{len(side.iris)} entities, {relations} relations, {len(side.relation_rows)} relation triples, "
        f"{len(side.attribute_rows)} attribute triples"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the bundled demo from the Unicode CLDR data that Babel carries.")
    parser.add_argument("out_folder", nargs="?", type=Path, default=OUT_FOLDER, metavar="OUT_FOLDER")
    print("\n".join(make_demo(parser.parse_args().out_folder)))
