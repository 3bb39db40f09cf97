"""The graphs of the tutorials: every file is well-formed, every gold link joins two entities of one kind that exist, and most are found."""

import csv
from pathlib import Path

import pyoxigraph
import pytest

import kgalign

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
PAIRS = {
    "thesauri": ("conservatory.ttl", "library.ttl"),
    "ontologies": ("circulation.owl", "catalogue.ttl"),
    "companies": ("companies.csv", "companies.ttl"),
}
LEAST = {"thesauri": (0.9, 0.95), "ontologies": (0.8, 0.9), "companies": (0.95, 0.95)}  # precision and recall
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
OWL = "http://www.w3.org/2002/07/owl#"
REGISTER = "http://register.example.org/def/"
KIND_OF_TYPE = {
    "http://www.w3.org/2004/02/skos/core#Concept": "concept",
    f"{OWL}Class": "class",
    f"{OWL}ObjectProperty": "property",
    f"{OWL}DatatypeProperty": "property",
    f"{OWL}NamedIndividual": "individual",
    **{f"{REGISTER}{name}": "individual" for name in ("Company", "City", "Country", "Industry")},
}


@pytest.mark.parametrize(
    "path", [EXAMPLES / pair / name for pair, names in PAIRS.items() for name in names], ids=lambda path: path.name
)
def test_a_graph_has_no_broken_statement(path):
    assert len(kgalign.read_graph(path, strict=True).entities) > 0


@pytest.mark.parametrize("pair", PAIRS)
def test_every_gold_link_joins_entities_of_one_kind(pair):
    source, target = (kinds_of(EXAMPLES / pair / name) for name in PAIRS[pair])
    for row in gold_of(pair):
        assert row["source"] in source, row
        assert row["target"] in target, row
        assert source[row["source"]] == target[row["target"]] == row.get("kind", "concept"), row


@pytest.mark.parametrize("pair", PAIRS)
def test_every_entity_is_in_one_gold_link_at_most(pair):
    rows = gold_of(pair)
    assert len({row["source"] for row in rows}) == len({row["target"] for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("pair", "counts"), [("thesauri", (92, 75, 54)), ("ontologies", (90, 68, 51)), ("companies", (85, 95, 73))]
)
def test_the_pages_say_how_many_entities_and_gold_links_there_are(pair, counts):
    source, target = (kinds_of(EXAMPLES / pair / name) for name in PAIRS[pair])
    assert (len(source), len(target), len(gold_of(pair))) == counts


@pytest.mark.parametrize("pair", PAIRS)
def test_most_links_are_right_and_most_gold_links_are_found(pair):
    folder = EXAMPLES / pair
    task, gold = kgalign.read(*(folder / name for name in PAIRS[pair]), gold=folder / "gold.tsv", protocol="open")
    alignment = kgalign.align(task).alignment
    figures = kgalign.evaluate(alignment, gold, protocol=task.protocol, complete=True)
    precision, recall = LEAST[pair]
    assert figures["precision"] >= precision
    assert figures["recall"] >= recall


def kinds_of(path):
    """The kind of each entity that can be linked, by its IRI, or in a table by its id."""
    if path.suffix == ".csv":
        return dict.fromkeys(ids_of(path), "individual")
    kinds = {}
    for quad in pyoxigraph.parse(path=path, format=pyoxigraph.RdfFormat.RDF_XML if path.suffix == ".owl" else None):
        if quad.predicate.value == TYPE and isinstance(quad.subject, pyoxigraph.NamedNode) and quad.object.value in KIND_OF_TYPE:
            kinds[quad.subject.value] = KIND_OF_TYPE[quad.object.value]
    return kinds


def ids_of(path):
    """The ids of the rows of the companies, and of their cities, countries and industries."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    values = [f"{column}={row[column]}" for column in ("city", "country", "industry") for row in rows]
    return [*(row["company no"] for row in rows), *values]


def gold_of(pair):
    """The rows of the gold table, by column."""
    with (EXAMPLES / pair / "gold.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
