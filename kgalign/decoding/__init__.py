"""Decoders turn candidates into links. A decoder is a function; DECODERS has all of them by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from kgalign.data import Candidates
from kgalign.errors import OptionError
from kgalign.registry import Registry
from kgalign.seams import Decoder

__all__ = ["DECODERS", "PROTOCOL_OPTIONS", "decoder_options", "make_decoder"]

DECODERS = Registry(
    "decoder",
    "kgalign.decoders",
    {name: f"kgalign.decoding.decoders:{name}" for name in ("greedy", "mutual", "stable", "csls", "sinkhorn", "joint")},
    aliases={"dinf": "greedy", "sm": "stable", "hungarian": "joint", "hun": "joint"},  # as EntMatcher calls them
)
# Closed: every query has a counterpart, so none stays unmatched. Open: a link with hardly any probability is none.
PROTOCOL_OPTIONS: Mapping[str, Mapping[str, Any]] = {"closed": {"fill": True}, "open": {"unmatched": 0.1}}


def make_decoder(name: str, **options: Any) -> Decoder:
    """The decoder of that name, or of the name that EntMatcher gives it, with its options set."""
    known = decoder_options(name)
    for option in options:
        if option not in known:
            raise OptionError(f"the decoder {name} has no option {option!r}: expected one of {', '.join(known)}")
    decoder = partial(DECODERS[name], **options)
    if DECODERS.check(name) in DECODERS.built_in:
        decoder(Candidates(np.empty(0), np.empty((0, 1), np.int64), np.empty((0, 1))))  # refuses bad values at once
    return decoder


def decoder_options(name: str) -> dict[str, Any]:
    """The options of a decoder and their defaults."""
    parameters = inspect.signature(DECODERS[name]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.kind == parameter.KEYWORD_ONLY}
