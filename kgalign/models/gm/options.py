"""The options of GM, and which of them a trained network depends on."""

from __future__ import annotations

from dataclasses import dataclass

from kgalign.errors import OptionError, check_at_least

CHOICES = {
    "directions": ("both", "out"),
    "matching": ("pooled", "attentive"),
    "readout": ("topic", "pooled"),
    "loss": ("list", "pair"),
}
OF_NETWORK = {"ngrams", "size", "input_hops", "matching_hops", "perspectives", "matching", "readout", "nodes", "directions"}
NOT_OF_TRAINING = {"device", "checkpoint", "seeds_as_evidence", "both_directions"}  # at most, they choose another epoch


@dataclass(frozen=True)
class GraphMatchingOptions:
    """The options of GM.

    Attributes:
        k: Candidates by name for each query.
        both_directions: Targets that have the query among their own best are candidates too.
        graph_k: Candidates by the known links around each query; 0: candidates by name alone.
        word_vectors: A GloVe or word2vec text file; without it, vectors of words are learnt.
        ngrams: The width of the n-gram vectors that stand beside the words of a name; 0: words alone, as in the paper.
        nodes: How many nodes a topic graph has at most.
        directions: `both`: neighbours that point to the topic are nodes too; `out`: those that the topic points to alone.
        size: The width of the states.
        input_hops: How many hops states travel before the matching.
        matching_hops: How many hops they travel after it.
        perspectives: Weighted cosines for each node.
        matching: `pooled`: the features of the released code, with true cosines; `attentive`: those of the paper.
        readout: `topic`: the state of the topic stands beside the mean and the maximum over all nodes; `pooled`: it does not, as in the
            paper.
        dropout: The share of inputs that are dropped in training.
        loss: `list`: the right target among all negatives of a seed; `pair`: each pair by itself, as in the paper.
        negatives: Wrong entities for each seed, at either end.
        simulated: How many known links are simulated at most in each topic graph in training; 0: none.
        seeds_as_evidence: Whether seeds count as known links too, or confident links alone.
        epochs: Passes over the seeds, at most.
        patience: Training ends after this many epochs without a better result on the development links.
        batch: Seeds in a step.
        learning_rate: Of the first step; it falls to a tenth.
        dev_fraction: The share of the seeds that are held out as development links. They choose the epoch and calibrate the scores.
        device: auto, cpu or cuda.
        checkpoint: A folder that keeps each epoch; an interrupted training goes on from there.
        seed: Makes everything that is random.
    """

    k: int = 50
    both_directions: bool = True
    graph_k: int = 20
    word_vectors: str | None = None
    ngrams: int = 256
    nodes: int = 24
    directions: str = "both"
    size: int = 100
    input_hops: int = 2
    matching_hops: int = 3
    perspectives: int = 10
    matching: str = "pooled"
    readout: str = "topic"
    dropout: float = 0.0
    loss: str = "list"
    negatives: int = 10
    simulated: int = 2
    seeds_as_evidence: bool = True
    epochs: int = 30
    patience: int = 10
    batch: int = 32
    learning_rate: float = 1e-3
    dev_fraction: float = 0.1
    device: str = "auto"
    checkpoint: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        least = dict.fromkeys(("k", "nodes", "size", "input_hops", "matching_hops", "perspectives", "negatives", "epochs"), 1)
        least |= dict.fromkeys(("patience", "batch"), 1) | dict.fromkeys(("graph_k", "ngrams", "simulated", "seed"), 0)
        check_at_least(**{name: (getattr(self, name), value) for name, value in least.items()})
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise OptionError(f"{name}={getattr(self, name)}: expected {' or '.join(choices)}")
        if not (0 < self.dev_fraction < 1 and 0 <= self.dropout < 1 and self.learning_rate > 0):
            raise OptionError(
                f"dev_fraction={self.dev_fraction}, dropout={self.dropout}, learning_rate={self.learning_rate}: "
                "expected shares below 1 and a rate above 0"
            )
