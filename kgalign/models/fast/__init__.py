"""`fast`, the default model: names, relations and literals as sparse vectors. It needs no GPU and no training run."""

from kgalign.models.fast.evidence import EvidenceKind, Graphs, NoMatchFeature, View
from kgalign.models.fast.kinds import KINDS
from kgalign.models.fast.model import Fast, FittedFast
from kgalign.search import Similarity

__all__ = ["KINDS", "EvidenceKind", "Fast", "FittedFast", "Graphs", "NoMatchFeature", "Similarity", "View"]
