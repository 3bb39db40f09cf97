"""GM, the paper's own model: a graph matching network compares the graphs around two entities. It needs PyTorch.

The order to read it in: `options`; `topic_graphs` and `scene`, what the network sees; `candidate_lists`, which pairs it scores; `network`,
its layers; `scoring`, the scores of many pairs; `epochs` and `training`, how it learns; `files`; and `model`, which puts all together.
"""

from kgalign.models.gm.model import FittedGraphMatching, GraphMatching
from kgalign.models.gm.options import GraphMatchingOptions

__all__ = ["FittedGraphMatching", "GraphMatching", "GraphMatchingOptions"]
