"""Explanations as tables of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from kgalign.explain.explanations import EVIDENCE, Explanation, Pair, contribution_rows, names_text, signed, through, why_unmatched
from kgalign.iri import local_name
from kgalign.notebook import Cell, Shown, html_table


class Explanations(list[Explanation]):
    """A list of explanations, as `Run.explain` returns it. `print` shows them as text, notebooks show them as tables."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return "".join(map(explanation_html, self))


def explanation_html(explanation: Explanation) -> str:
    """The link and the runner-up, the parts of their scores, values that are compared, and linked neighbours."""
    link, other = explanation.link, explanation.runner_up
    pairs = [(role, pair) for role, pair in (("link", link), ("runner-up" if link else "best candidate", other)) if pair]
    title = f"{explanation.name or explanation.source} {f'is {link.name or link.target}' if link else 'has no match'}"
    rows: list[Sequence[Cell]] = [
        (role, Shown(pair.name, pair.target), pair.probability, names_text(pair), pair.shared) for role, pair in pairs
    ]
    header = ("", "target", "probability", "names", "linked neighbours")
    note = f"decided by {explanation.decider}" if link else f"{why_unmatched(other)}"
    return (
        html_table(title, header, rows, f"source: {explanation.source}; {note}")
        + _contributions_html(explanation)
        + _values_html(pairs[0][1] if pairs else None)
        + _neighbours_html(pairs[0][1] if pairs else None)
    )


def _contributions_html(explanation: Explanation) -> str:
    labels, rows = contribution_rows(explanation)
    if not labels:
        return ""
    cells = ((kind, *map(signed, amounts), words) for kind, amounts, words in rows)
    return html_table(EVIDENCE, ("", *labels, ""), cells)


def _values_html(pair: Pair | None) -> str:
    """The values of the first pair that were compared."""
    if pair is None or not pair.values:
        return ""
    rows = (
        (local_name(each.source_property), each.source_value, local_name(each.target_property), each.target_value, each.agreement)
        for each in pair.values
    )
    return html_table("Values", ("source", "", "target", "", ""), rows)


def _neighbours_html(pair: Pair | None) -> str:
    """The neighbours of the first pair that are linked to each other."""
    linked = pair.linked_neighbours() if pair else ()
    rows = (
        (
            each.source_name or each.source or "",
            through(each.source_relations),
            each.target_name or each.target or "",
            through(each.target_relations),
            "seed" if each.seed else each.probability,
        )
        for each in linked
    )
    return html_table("Linked neighbours", ("source", "", "target", "", "probability"), rows) if linked else ""
