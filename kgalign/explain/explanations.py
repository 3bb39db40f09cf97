"""Explanations of links: the evidence for the link of an entity and for its runner-up, as objects and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kgalign.characters import shown
from kgalign.data import PREFERRED, RANKS
from kgalign.features.text import scripts
from kgalign.iri import local_name

LONGEST_VALUE = 60  # characters of a name or a literal
MOST_OTHER_LINKS = 5  # of a source that are listed
EVIDENCE = "Evidence, in points"
SCORE = "the sum: it ranks the candidates of one query; the probability also weighs other queries and no match"


@dataclass(frozen=True)
class MatchingName:
    """A name of one entity that is most similar to a name of the other.

    Attributes:
        language: The language tag, empty for none.
        rank: `preferred`, `alternative` or `from the IRI`.
    """

    text: str
    language: str = ""
    rank: str = RANKS[PREFERRED]


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
        amount: In points of the score, which ranks the candidates of one query; below 0: evidence against the pair.
    """

    kind: str
    description: str
    amount: float


@dataclass(frozen=True)
class Pair:
    """A target that the source is linked to, or could have been linked to, and the evidence for it.

    Attributes:
        name_similarity: The share of letter pairs that the two most similar names have in common, 0 to 1.
        matching_names: These names of source and target; None where they have nothing in common.
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
    matching_names: tuple[MatchingName, MatchingName] | None = None

    def linked_neighbours(self) -> tuple[Neighbour, ...]:
        return tuple(neighbour for neighbour in self.neighbours if neighbour.source and neighbour.target)


@dataclass(frozen=True)
class OtherLink:
    """Another target that the source is linked to, where it may have several."""

    target: str
    name: str
    probability: float


@dataclass(frozen=True)
class Explanation:
    """Why a source entity has a link, or none. `str()` gives the text for a terminal.

    Attributes:
        neighbour_count: The number of neighbours of the source.
        link: None where the source is unmatched.
        runner_up: The best candidate that is no link of the source, if there was one.
        round: The round of Easy-to-Hard in which the link became confident, 0: in none.
        decided_by: `easy-to-hard` or the name of the decoder.
        other_links: The other links of the source, most probable first.
    """

    source: str
    name: str
    neighbour_count: int
    link: Pair | None
    runner_up: Pair | None
    round: int = 0
    decided_by: str = ""
    other_links: tuple[OtherLink, ...] = ()

    @property
    def decider(self) -> str:
        """What decided on the link, in words."""
        return f"round {self.round} of Easy-to-Hard" if self.round else f"the decoder ({self.decided_by})"

    def lacking(self) -> tuple[Neighbour, ...]:
        """The linked neighbours that are evidence for the link and not for the runner-up."""
        return tuple(each for each in self.link.neighbours if each.lacking) if self.link else ()

    def __str__(self) -> str:
        lines = [f"{_entity(self.name, self.source)}, {_count(self.neighbour_count, 'neighbour')}"]
        lines += _link_lines(self, self.link) if self.link else [f"has no match: {why_unmatched(self.runner_up)}."]
        lines += _contribution_lines(self)
        if self.runner_up:
            lines += ["", *_runner_up_lines(self, self.runner_up)]
        elif self.link:
            lines += ["", "There was no other candidate."]
        return shown("\n".join(lines))

    def _repr_html_(self) -> str:
        from kgalign.explain.notebook import explanation_html  # which shows an Explanation

        return explanation_html(self)


def _link_lines(explanation: Explanation, link: Pair) -> list[str]:
    taken = [f"Another source has the same match: {_entity(link.taken_by_name, link.taken_by)}."] if link.taken_by else []
    return [
        f"is {_entity(link.name, link.target)}, {_count(link.neighbour_count, 'neighbour')}",
        f"with a probability of {link.probability:.3f}, decided by {explanation.decider}.",
        *taken,
        *_other_link_lines(explanation.other_links),
        "",
        *_name_and_value_lines(link),
        *_linked_lines(link),
        *_alone_lines(link),
    ]


def _other_link_lines(others: tuple[OtherLink, ...]) -> list[str]:
    if not others:
        return []
    listed = [f"  {_entity(each.name, each.target)}, {each.probability:.3f}" for each in others[:MOST_OTHER_LINKS]]
    more = [f"  and {len(others) - MOST_OTHER_LINKS:,} more"] if len(others) > MOST_OTHER_LINKS else []
    return [f"It has {_count(len(others), 'other link')}:", *listed, *more]


def _runner_up_lines(explanation: Explanation, runner_up: Pair) -> list[str]:
    link, lacking = explanation.link, explanation.lacking()
    role = "Runner-up" if link else "Best candidate"
    lines = [
        f"{role}: {_entity(runner_up.name, runner_up.target)}, probability {runner_up.probability:.3f}.",
        *_name_and_value_lines(runner_up),
    ]
    if runner_up.taken_by:
        lines.append(f"It is the match of {_entity(runner_up.taken_by_name, runner_up.taken_by)}.")
    if lacking:
        lines.append(
            "It lacks "
            + "; ".join(f"{each.target_name or each.target} ({through(each.target_relations)})" for each in lacking)
            + "."
        )
    elif link and link.shared and runner_up.shared <= link.shared:
        lines.append("It has the same linked neighbours: they do not tell the two apart.")
    if link is None or runner_up.shared > link.shared:
        lines += _linked_lines(runner_up)
    return lines


def why_unmatched(best: Pair | None) -> str:
    """Why a source has no match."""
    if best is None:
        return "it had no candidate"
    return (
        f"its best candidate is the match of {best.taken_by_name or best.taken_by}"
        if best.taken_by
        else f"its best candidate is not probable enough ({best.probability:.3f}) beside other queries and no match"
    )


def contribution_rows(explanation: Explanation) -> tuple[list[str], list[tuple[str, list[float], str]]]:
    """The roles of the pairs that have contributions, and for each kind of evidence its amount for each pair and what it is.

    The first row has the sums, the strongest evidence follows. No roles: the model does not say.
    """
    pairs = {"link": explanation.link, "runner-up" if explanation.link else "best candidate": explanation.runner_up}
    shown = {label: pair.contributions for label, pair in pairs.items() if pair and pair.contributions}
    if not shown:
        return [], []
    kinds = {each.kind: each.description for contributions in shown.values() for each in contributions}
    amounts = [{each.kind: each.amount for each in contributions} for contributions in shown.values()]
    rows = [("score", [sum(each.values()) for each in amounts], SCORE)]
    for kind in sorted(kinds, key=lambda kind: -abs(amounts[0].get(kind, 0.0))):
        rows.append((kind, [each.get(kind, 0.0) for each in amounts], kinds[kind]))
    return list(shown), rows


def signed(amount: float) -> str:
    """An amount of points with its sign."""
    return f"{amount:+.2f}" if amount else "0.00"


def _contribution_lines(explanation: Explanation) -> list[str]:
    """A table of the parts of the scores of link and runner-up, strongest evidence first."""
    labels, rows = contribution_rows(explanation)
    if not labels:
        return []
    width = max(len(EVIDENCE), *(len(kind) + 2 for kind, _, _ in rows))
    lines = ["", EVIDENCE.ljust(width) + "".join(label.rjust(len(label) + 4) for label in labels)]
    for kind, values, words in rows:
        columns = (signed(value).rjust(len(label) + 4) for label, value in zip(labels, values, strict=True))
        lines.append(f"  {kind}".ljust(width) + "".join(columns) + f"  {words}")
    return lines


def _name_and_value_lines(pair: Pair) -> list[str]:
    lines = [f"Names: {names_text(pair)}."]
    for each in pair.values:
        names = dict.fromkeys(local_name(iri) for iri in (each.source_property, each.target_property))
        lines.append(f"  {' / '.join(names)}: {_cut(each.source_value)} | {_cut(each.target_value)}, {each.agreement}")
    return lines


def names_text(pair: Pair) -> str:
    """The two names that match, each with its language and rank, and how similar they are."""
    similar = _similar(pair.name_similarity)
    if pair.matching_names is None:
        return similar
    one, other = pair.matching_names
    notes = _note(one), _note(other)
    if one.text != other.text:
        is_transliterated = not scripts([one.text]).keys() & scripts([other.text]).keys()
        names = f'"{_cut(one.text)}"{_in_brackets(notes[0])} and "{_cut(other.text)}"{_in_brackets(notes[1])}'
        return f"{names}: {similar}" + (", written in Latin letters" if is_transliterated else "")
    if notes[0] == notes[1] or (all(notes) and one.rank == other.rank == RANKS[PREFERRED]):
        note = " and ".join(dict.fromkeys(notes))
    else:
        note = "; ".join(f"{side}: {note}" for side, note in zip(("source", "target"), notes, strict=True) if note)
    return f'both are called "{_cut(one.text)}"{_in_brackets(note)}'


def _note(name: MatchingName) -> str:
    return ", ".join(part for part in (name.language, name.rank if name.rank != RANKS[PREFERRED] else "") if part)


def _in_brackets(note: str) -> str:
    return f" ({note})" if note else ""


def _linked_lines(pair: Pair) -> list[str]:
    linked = pair.linked_neighbours()
    if not pair.shared:
        return ["No neighbour of the source is linked to a neighbour of the target."]
    kept = "" if pair.shared == len(linked) else f"; the {len(linked)} strongest"
    lines = [f"Linked neighbours: {pair.shared}{kept}:"]
    for each in linked:
        probability = "seed" if each.seed else f"{each.probability:.3f}"
        lines.append(
            f"  {each.source_name or each.source} ({through(each.source_relations)}) = "
            f"{each.target_name or each.target} ({through(each.target_relations)}), {probability}"
        )
    return lines


def _alone_lines(pair: Pair) -> list[str]:
    sides = {
        "source": [(each.source_name or each.source, each.source_relations) for each in pair.neighbours if each.target is None],
        "target": [(each.target_name or each.target, each.target_relations) for each in pair.neighbours if each.source is None],
    }
    return [
        f"Only around the {side}: " + "; ".join(f"{name} ({through(relations)})" for name, relations in alone) + "."
        for side, alone in sides.items()
        if alone
    ]


def through(relations: Iterable[str]) -> str:
    """The relations with arrows for their direction."""
    arrows = (f"← {local_name(each[1:])}" if each.startswith("^") else f"→ {local_name(each)}" for each in relations)
    return ", ".join(arrows)


def _cut(value: str) -> str:
    value = " ".join(value.split())
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"


def _entity(name: str | None, iri: str | None) -> str:
    return f"{name}  <{iri}>" if name else f"<{iri}>"


def _similar(similarity: float) -> str:
    return (
        "the same letters"
        if similarity == 1
        else f"{similarity:.0%} of their letters in common"
        if similarity
        else "no two letters in a row in common"
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
