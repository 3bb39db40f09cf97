"""Finds which entities of two knowledge graphs are the same thing, and says how sure it is."""

__version__ = "0.1.0"

from kgalign.align import Run, align
from kgalign.coordinate import Round, coordinate
from kgalign.data import Alignment, AlignmentTask, Attributes, Candidates, KnowledgeGraph, hold_out, share_names
from kgalign.datasets import demo
from kgalign.decode import DECODERS, make_decoder
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.evaluate import compare, evaluate
from kgalign.explain import Explanation, explain
from kgalign.models import MODELS, Model, make_model
from kgalign.readers import read, read_graph
from kgalign.writers import write, write_graph, write_run

__all__ = [
    "read",
    "read_graph",
    "demo",
    "make_model",
    "coordinate",
    "make_decoder",
    "evaluate",
    "compare",
    "write",
    "align",
    "write_run",
    "write_graph",
    "explain",
    "hold_out",
    "share_names",
    "KnowledgeGraph",
    "Attributes",
    "AlignmentTask",
    "Alignment",
    "Candidates",
    "Round",
    "Run",
    "Explanation",
    "Model",
    "MODELS",
    "DECODERS",
    "KgalignError",
    "DataError",
    "OptionError",
]
