"""Easy-to-Hard reasoning around any model: its rules, its rounds, and what makes probabilities of scores."""

from kgalign.reasoning.easy_to_hard import coordinate
from kgalign.reasoning.rules import Rules
from kgalign.reasoning.state import Decision, HeldOut, KeepsRounds, Reasoning, Round, State

__all__ = ["Decision", "HeldOut", "KeepsRounds", "Reasoning", "Round", "Rules", "State", "coordinate"]
