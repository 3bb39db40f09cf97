"""Finds which entities of two knowledge graphs are the same thing, with calibrated probabilities and explanations."""

from kgalign.align import align
from kgalign.data import Alignment, AlignmentTask, Attributes, Candidates, KnowledgeGraph, Name, Names, hold_out, share_names
from kgalign.datasets import demo
from kgalign.decisions import Decision
from kgalign.decoding import DECODERS, make_decoder
from kgalign.errors import DataError, KgalignError, OptionError
from kgalign.evaluate import compare, evaluate
from kgalign.explain.explanations import Explanation
from kgalign.explain.notebook import Explanations
from kgalign.limits import Limits
from kgalign.models import MODELS, make_model
from kgalign.progress import Progress
from kgalign.readers import read, read_graph
from kgalign.reasoning import Reasoning, Round, Rules, coordinate
from kgalign.review import ReviewSession
from kgalign.runs import Link, Links, Run
from kgalign.seams import Capabilities, FittedModel, Model
from kgalign.update import update
from kgalign.version import __version__
from kgalign.writers import write, write_graph

__all__ = [
    "read",
    "read_graph",
    "Limits",
    "demo",
    "align",
    "update",
    "Run",
    "Links",
    "Link",
    "Progress",
    "write",
    "write_graph",
    "Explanation",
    "Explanations",
    "ReviewSession",
    "Decision",
    "make_model",
    "coordinate",
    "Rules",
    "Reasoning",
    "Round",
    "make_decoder",
    "evaluate",
    "compare",
    "hold_out",
    "share_names",
    "KnowledgeGraph",
    "Names",
    "Name",
    "Attributes",
    "AlignmentTask",
    "Alignment",
    "Candidates",
    "Model",
    "FittedModel",
    "Capabilities",
    "MODELS",
    "DECODERS",
    "KgalignError",
    "DataError",
    "OptionError",
    "__version__",
]
