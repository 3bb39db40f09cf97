"""Finds which entities of two knowledge graphs are the same thing, and says how sure it is."""

__version__ = "0.1.0"

from kgalign.align import Run, align
from kgalign.coordinate import Round, coordinate
from kgalign.data import Alignment, AlignmentTask, Attributes, Candidates, KnowledgeGraph, hold_out, share_names
from kgalign.datasets import demo
from kgalign.decode import DECODERS, make_decoder
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.evaluate import compare, evaluate
from kgalign.models import MODELS, Model, make_model
from kgalign.readers import read
from kgalign.writers import write, write_run

__all__ = [
    "read",
    "demo",
    "make_model",
    "coordinate",
    "make_decoder",
    "evaluate",
    "compare",
    "write",
    "align",
    "write_run",
    "hold_out",
    "share_names",
    "KnowledgeGraph",
    "Attributes",
    "AlignmentTask",
    "Alignment",
    "Candidates",
    "Round",
    "Run",
    "Model",
    "MODELS",
    "DECODERS",
    "KgalignError",
    "DataError",
    "OptionError",
]
