"""Explanations of links: the evidence for the link of an entity and for its runner-up, as objects and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kgalign.iri import local_name

LONGEST_VALUE = 60  # characters of a literal


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of the source and the neighbour of the target that it is linked to; one of them is None where there is no link.

    Attributes:
        source_relations: Relations from the source to its neighbour; one that leads back begins with ^.
        target_relations: The same for the target.
        probability: The probability of the link between the two neighbours.
        seed: That link was given as a seed.
        lacking: The runner-up has no such neighbour.
    """

    source: str | None
    source_name: str | None
    source_relations: tuple[str, ...]
    target: str | None
    target_name: str | None
    target_relations: tuple[str, ...]
    probability: float
    seed: bool
    lacking: bool


@dataclass(frozen=True)
class Value:
    """A literal of the source and one of the target, of properties that match.

    Attributes:
        agreement: `the same`, `about the same` or `differs`.
    """

    source_property: str
    source_value: str
    target_property: str
    target_value: str
    agreement: str


@dataclass(frozen=True)
class Contribution:
    """How much one kind of evidence adds to the score of a pair.

    Attributes:
        kind: The name of the kind.
        description: The kind in words.
        amount: In units of log-odds; below 0: evidence against the pair.
    """

    kind: str
    description: str
    amount: float


@dataclass(frozen=True)
class Pair:
    """A target that the source is linked to, or could have been linked to, and the evidence for it.

    Attributes:
        name_similarity: The share of letter pairs that the two names have in common, 0 to 1.
        shared: The number of linked neighbours.
        neighbour_count: The number of neighbours of the target.
        neighbours: The strongest of them as evidence.
        taken_by: Another source that is linked to this target.
        contributions: The parts of its score, by kind of evidence; empty where the model does not say.
    """

    target: str
    name: str
    probability: float
    name_similarity: float
    shared: int
    neighbour_count: int
    neighbours: tuple[Neighbour, ...]
    taken_by: str | None
    taken_by_name: str | None
    values: tuple[Value, ...] = ()
    contributions: tuple[Contribution, ...] = ()

    def linked_neighbours(self) -> tuple[Neighbour, ...]:
        return tuple(neighbour for neighbour in self.neighbours if neighbour.source and neighbour.target)


@dataclass(frozen=True)
class Explanation:
    """Why a source entity has its link, or none. `str()` gives the text for a terminal.

    Attributes:
        neighbour_count: The number of neighbours of the source.
        link: None where the source is unmatched.
        runner_up: The best other candidate, if there was one.
        round: The round of Easy-to-Hard in which the link became confident, 0: in none.
        decided_by: `easy-to-hard` or the name of the decoder.
    """

    source: str
    name: str
    neighbour_count: int
    link: Pair | None
    runner_up: Pair | None
    round: int = 0
    decided_by: str = ""

    def lacking(self) -> tuple[Neighbour, ...]:
        """The linked neighbours that are evidence for the link and not for the runner-up."""
        return tuple(each for each in self.link.neighbours if each.lacking) if self.link else ()

    def __str__(self) -> str:
        lines = [f"{self.name}  <{self.source}>, {_count(self.neighbour_count, 'neighbour')}"]
        lines += _link_lines(self, self.link) if self.link else [f"has no match: {_why_unmatched(self.runner_up)}."]
        lines += _contribution_lines(self)
        if self.runner_up:
            lines += ["", *_runner_up_lines(self, self.runner_up)]
        elif self.link:
            lines += ["", "There was no other candidate."]
        return "\n".join(lines)


def _link_lines(explanation: Explanation, link: Pair) -> list[str]:
    by = f"round {explanation.round} of Easy-to-Hard" if explanation.round else f"the decoder ({explanation.decided_by})"
    taken = [f"Another source has the same match: {link.taken_by_name}  <{link.taken_by}>."] if link.taken_by else []
    return [
        f"is {link.name}  <{link.target}>, {_count(link.neighbour_count, 'neighbour')}",
        f"with a probability of {link.probability:.3f}, decided by {by}.",
        *taken,
        "",
        *_name_and_value_lines(link),
        *_linked_lines(link),
        *_alone_lines(link),
    ]


def _runner_up_lines(explanation: Explanation, runner_up: Pair) -> list[str]:
    link, lacking = explanation.link, explanation.lacking()
    lines = [
        f"{'Runner-up' if link else 'Best candidate'}: {runner_up.name}  <{runner_up.target}>, probability {runner_up.probability:.3f}.",
        *_name_and_value_lines(runner_up),
    ]
    if runner_up.taken_by:
        lines.append(f"It is the match of {runner_up.taken_by_name}  <{runner_up.taken_by}>.")
    if lacking:
        lines.append("It lacks " + "; ".join(f"{each.target_name} ({_through(each.target_relations)})" for each in lacking) + ".")
    elif link and runner_up.shared <= link.shared:
        lines.append("It has the same linked neighbours: they do not tell the two apart.")
    if link is None or runner_up.shared > link.shared:
        lines += _linked_lines(runner_up)
    return lines


def _why_unmatched(best: Pair | None) -> str:
    if best is None:
        return "it had no candidate"
    return (
        f"its best candidate is the match of {best.taken_by_name}" if best.taken_by else "its best candidate is not probable enough"
    )


def _contribution_lines(explanation: Explanation) -> list[str]:
    """A table of the parts of the scores of link and runner-up, strongest evidence first."""
    pairs = {"link": explanation.link, "runner-up" if explanation.link else "best candidate": explanation.runner_up}
    shown = {label: pair.contributions for label, pair in pairs.items() if pair and pair.contributions}
    if not shown:
        return []
    kinds = {each.kind: each.description for contributions in shown.values() for each in contributions}
    amounts = {label: {each.kind: each.amount for each in contributions} for label, contributions in shown.items()}
    main = next(iter(amounts.values()))
    rows = [("score", [sum(each.values()) for each in amounts.values()], "the sum of all kinds")]
    for kind in sorted(kinds, key=lambda kind: -abs(main.get(kind, 0.0))):
        rows.append((kind, [each.get(kind, 0.0) for each in amounts.values()], kinds[kind]))
    title = "Evidence, in log-odds"
    width = max(len(title), *(len(kind) + 2 for kind in kinds))
    lines = ["", title.ljust(width) + "".join(label.rjust(len(label) + 4) for label in amounts)]
    for kind, values, words in rows:
        columns = (
            (f"{value:+.2f}" if value else "0.00").rjust(len(label) + 4) for label, value in zip(amounts, values, strict=True)
        )
        lines.append(f"  {kind}".ljust(width) + "".join(columns) + f"  {words}")
    return lines


def _name_and_value_lines(pair: Pair) -> list[str]:
    lines = [f"Names: {_similar(pair.name_similarity)}."]
    for each in pair.values:
        names = dict.fromkeys(local_name(iri) for iri in (each.source_property, each.target_property))
        lines.append(f"  {' / '.join(names)}: {_cut(each.source_value)} | {_cut(each.target_value)}, {each.agreement}")
    return lines


def _linked_lines(pair: Pair) -> list[str]:
    linked = pair.linked_neighbours()
    if not pair.shared:
        return ["No neighbour of the source is linked to a neighbour of the target."]
    kept = "" if pair.shared == len(linked) else f"; the {len(linked)} strongest"
    lines = [f"Linked neighbours: {pair.shared}{kept}:"]
    for each in linked:
        probability = "seed" if each.seed else f"{each.probability:.3f}"
        lines.append(
            f"  {each.source_name} ({_through(each.source_relations)}) = "
            f"{each.target_name} ({_through(each.target_relations)}), {probability}"
        )
    return lines


def _alone_lines(pair: Pair) -> list[str]:
    sides = {
        "source": [(each.source_name, each.source_relations) for each in pair.neighbours if each.target is None],
        "target": [(each.target_name, each.target_relations) for each in pair.neighbours if each.source is None],
    }
    return [
        f"Only around the {side}: " + "; ".join(f"{name} ({_through(relations)})" for name, relations in alone) + "."
        for side, alone in sides.items()
        if alone
    ]


def _through(relations: Iterable[str]) -> str:
    """The relations with arrows for their direction."""
    arrows = (f"← {local_name(each[1:])}" if each.startswith("^") else f"→ {local_name(each)}" for each in relations)
    return ", ".join(arrows)


def _cut(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"


def _similar(similarity: float) -> str:
    return "the same" if similarity == 1 else f"{similarity:.0%} of their letters in common" if similarity else "nothing in common"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
