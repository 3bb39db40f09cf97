"""RDF/XML that is small and would take gigabytes or hours: entities in every spelling that the parser knows, and signs without end."""

import pytest

from kgalign import DataError, Limits, read_graph

BODY = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
    '<rdf:Description rdf:about="http://x/1"><x:p>{}</x:p></rdf:Description></rdf:RDF>'
)
TOO_LARGE = "XML entities that make a document larger by at most 100 times its size"


def written(folder, text):
    path = folder / "graph.rdf"
    path.write_text(text, "utf-8")
    return path


SPELLINGS = {  # of a declaration, and of a reference
    "plain": ("<!ENTITY {} '{}'>", "&{};"),
    "parameter": ('<!ENTITY % {} "{}">', "&{};"),
    "a blank of Unicode": ('<!ENTITY\u00a0{} "{}">', "&{};"),
    "a quote in the name": ('<!ENTITY {}"b "{}">', '&{}"b;'),
    "a bracket in the name": ('<!ENTITY {}>b "{}">', "&{}>b;"),
    "a vertical tab in the name": ('<!ENTITY {}\vb "{}">', "&{}\vb;"),
    "letters beyond ASCII": ('<!ENTITY é{} "{}">', "&é{};"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_nested_entities_are_refused_however_they_are_spelt(tmp_path, spelling):
    declaration, reference = SPELLINGS[spelling]
    declared = declaration.format("a", "x" * 100)
    for outer, inner in zip("bcdefgh", "abcdefg", strict=True):
        declared += declaration.format(outer, 10 * reference.format(inner))
    path = written(tmp_path, f"<!DOCTYPE rdf:RDF [{declared}]>" + BODY.format(reference.format("h")))
    with pytest.raises(DataError, match=TOO_LARGE):
        read_graph(path)


def test_a_long_entity_that_is_used_often_is_refused(tmp_path):
    path = written(tmp_path, f'<!DOCTYPE rdf:RDF [<!ENTITY a "{"A" * 600_000}">]>' + BODY.format("&a;" * 5_000))
    with pytest.raises(DataError, match=TOO_LARGE):
        read_graph(path)


def test_entities_in_text_without_an_end_are_counted(tmp_path):
    path = written(tmp_path, f'<!DOCTYPE rdf:RDF [<!ENTITY a "{"A" * 1000}">]>' + BODY.format("&a;" * 300_000 + "x" * 600_000))
    with pytest.raises(DataError, match=TOO_LARGE):
        read_graph(path)


def test_namespaces_as_entities_are_no_danger(tmp_path):
    namespace = f"http://example.org/{'long/' * 100}"
    about = "".join(f'<rdf:Description rdf:about="&x;{i}"><x:p>AT&amp;T &lt; 1</x:p></rdf:Description>' for i in range(18_000))
    text = f'<!DOCTYPE rdf:RDF [\n<!ENTITY x "{namespace}">\n]>\n' + BODY.format("1").replace("</rdf:RDF>", about + "</rdf:RDF>")
    graph = read_graph(written(tmp_path, text), limits=Limits(expansion=8))
    assert len(graph.entities) == 18_001
    assert f"{namespace}7" in graph.entities
    with pytest.raises(DataError, match="larger by at most 3 times its size"):
        read_graph(tmp_path / "graph.rdf", limits=Limits(expansion=3))


@pytest.mark.parametrize("text", ["<!DOCTYPE [" * 200_000, "<!DOCTYPE a [" + "<!ENTITY" * 200_000 + "]>"])
def test_declarations_without_end_are_read_in_linear_time(tmp_path, text):
    path = written(tmp_path, text + BODY.format("Rome"))  # in quadratic time, this takes many minutes
    assert read_graph(path).entities == ["http://x/1"]


def test_blanks_without_end_are_read_in_linear_time(tmp_path):
    with pytest.raises(DataError, match="the graph is empty"):
        read_graph(written(tmp_path, " " * 5_000_000))


@pytest.mark.parametrize("count", [300_000, 1_000_000])
def test_brackets_without_end_are_levels_in_every_block(tmp_path, count):
    with pytest.raises(DataError, match="elements inside each other, at most 10,000 levels"):
        read_graph(written(tmp_path, BODY.format("<a" * count)))
