"""Objects that can be read as graphs, known by the names of their classes: none of their libraries is imported."""

from __future__ import annotations

from kgalign.data import KnowledgeGraph

PANDAS, POLARS, RDFLIB, NETWORKX = "a pandas data frame", "a polars data frame", "an rdflib graph", "a networkx graph"
FRAMES = (PANDAS, POLARS)
CLASSES = {  # by the package and the name of a class that the object's own class may have inherited
    ("pandas", "DataFrame"): PANDAS,
    ("polars", "DataFrame"): POLARS,
    ("polars", "LazyFrame"): POLARS,
    ("rdflib", "Graph"): RDFLIB,
    ("networkx", "Graph"): NETWORKX,
}
EXPECTED = "a path, or in memory: a KnowledgeGraph, " + ", ".join(dict.fromkeys(CLASSES.values()))


def kind_in_memory(thing: object) -> str | None:
    """What an object is that can be read as a graph, such as `an rdflib graph`; None for anything else, such as a path."""
    if isinstance(thing, KnowledgeGraph):
        return "a KnowledgeGraph"
    names = ((each.__module__.partition(".")[0], each.__name__) for each in type(thing).__mro__)
    return next((CLASSES[name] for name in names if name in CLASSES), None)
