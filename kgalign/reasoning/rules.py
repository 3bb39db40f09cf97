"""The rules of Easy-to-Hard reasoning: one set of options and defaults for Python, the command line and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

from kgalign.data import Protocol
from kgalign.decoding import DECODERS, PROTOCOL_OPTIONS, decoder_options, make_decoder
from kgalign.errors import OptionError, check_at_least
from kgalign.seams import Decoder, Options


@dataclass(frozen=True)
class Rules:
    """How `coordinate` reasons.

    Attributes:
        decoder: Turns candidates into links: a registered name, or a function from `Candidates` to `Alignment`.
        decoder_options: Options of a decoder that is given by name. The protocol sets what is not set here: in the closed protocol no
            query stays unmatched, in the open one no link below a probability of 0.1 is kept.
        alpha: A link above this probability can be confident.
        min_new: Fewer new confident links than this in a round end the rounds (the paper's K: 20). None: suits the number of queries,
            from 1 for a handful over 20 for a thousand to one in a thousand for a million.
        max_rounds: How often confident links are fed back at most; 0 is plain decoding.
        freeze: A confident link stays confident for good, as in the paper. Otherwise each round decides anew and may drop it.
        all_entities: Looks for confident links among all entities without a seed first, not only among the queries and the pool: they
            are evidence too. Then the rounds begin again with the queries alone, and with all evidence found so far.
        held_out: The share of the seeds that is held out at first, if the model has not learnt from them. They show how many confident
            links are right: a round whose new ones are mostly wrong is the last and is discarded. Enough of them also calibrate the
            probabilities.
            Then the rounds begin again with all seeds.
        seed: Draws the held-out seeds, and decides exact ties.
    """

    decoder: str | Decoder = "joint"
    decoder_options: Options = field(default_factory=dict, hash=False)
    alpha: float = 0.5
    min_new: int | None = None
    max_rounds: int = 10
    freeze: bool = False
    all_entities: bool = True
    held_out: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise OptionError(f"alpha={self.alpha}: expected a probability between 0 and 1")
        if not isinstance(self.held_out, Real) or not 0 <= self.held_out < 1:
            raise OptionError(f"held_out={self.held_out}: expected a share from 0 to below 1")
        check_at_least(
            min_new=(1 if self.min_new is None else self.min_new, 1), max_rounds=(self.max_rounds, 0), seed=(self.seed, 0)
        )
        if isinstance(self.decoder, str):
            DECODERS.check(self.decoder)
            if self.decoder_options:
                make_decoder(self.decoder, **self.decoder_options)  # refuses bad values at once
        elif not callable(self.decoder):
            raise OptionError(f"decoder={self.decoder!r}: expected the name of a decoder, or a function")
        elif self.decoder_options:
            raise OptionError("decoder_options: they go with the name of a decoder; a function has its options already")

    @property
    def decoder_name(self) -> str:
        """The name of the decoder, for people and files."""
        if isinstance(self.decoder, str):
            return DECODERS.check(self.decoder)
        function = self.decoder.func if isinstance(self.decoder, partial) else self.decoder
        return getattr(function, "__name__", type(function).__name__)

    def make_decoder(self, protocol: Protocol) -> Decoder:
        """The decoder with its options for that protocol."""
        return make_decoder(self.decoder, **self._set_options(protocol)) if isinstance(self.decoder, str) else self.decoder

    def all_decoder_options(self, protocol: Protocol) -> dict[str, Any]:
        """Every option of the decoder, defaults included; none for a decoder that is a function."""
        return {**decoder_options(self.decoder), **self._set_options(protocol)} if isinstance(self.decoder, str) else {}

    def _set_options(self, protocol: Protocol) -> dict[str, Any]:
        assert isinstance(self.decoder, str)
        known = decoder_options(self.decoder)
        offered = {**PROTOCOL_OPTIONS[protocol], "seed": self.seed}
        return {**{name: value for name, value in offered.items() if name in known}, **self.decoder_options}
