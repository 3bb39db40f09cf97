"""Easy-to-Hard reasoning around any model: its rules, its rounds, and what makes probabilities of scores."""

from kgalign.reasoning.easy_to_hard import Decision, HeldOut, Reasoning, Round, coordinate
from kgalign.reasoning.rules import Rules

__all__ = ["Decision", "HeldOut", "Reasoning", "Round", "Rules", "coordinate"]
