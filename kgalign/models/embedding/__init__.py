"""Models that give each entity a vector, so that the two entities of a link are near each other. They need PyTorch.

`frame` has what all seven share: `network`, `options` and `training` are its parts. `translation` is the base of `je`, `mtranse`, `iptranse`,
`jape` and `bootea`, in which head + relation is near tail; `layers` is that of the graph convolutions `gcn_align` and `rdgcn`. To add a
model, write its options and its network in one file.
"""

from kgalign.models.embedding.frame import EmbeddingModel, FittedEmbedding
from kgalign.models.embedding.network import Network

__all__ = ["EmbeddingModel", "FittedEmbedding", "Network"]
