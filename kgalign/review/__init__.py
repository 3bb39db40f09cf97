"""Review of links by people: a queue of links, decisions that last, and runs that go on from them."""

from kgalign.review.session import ReviewSession

__all__ = ["ReviewSession"]
