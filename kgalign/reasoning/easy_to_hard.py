"""Easy-to-Hard: keep the links that are confident, feed them back as evidence, decide the rest, round after round."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kgalign.data import Alignment, AlignmentTask, Candidates, Cardinality, Floats, Ints, hold_out, one_link
from kgalign.decoding.cardinality import with_cardinality
from kgalign.errors import OptionError
from kgalign.features.constraints import allowed_candidates
from kgalign.reasoning.calibration import Rescaling, Sharpening, calibrated
from kgalign.reasoning.rules import Rules
from kgalign.reasoning.state import NO_CANDIDATES, Decision, HeldOut, KeepsRounds, Reasoning, Round, State, check_state
from kgalign.seams import Decoder, FittedModel, check_contract

logger = logging.getLogger(__name__)
PREDICTING = "predicting"  # the first step of every round; what comes before is done once for a phase
GROWING = "growing first links"
LEAST_PLAUSIBLE = 0.05  # below this probability a link is no soft evidence
MIN_HELD_OUT = 20  # fewer links say nothing about the others
MIN_NEW_HELD_OUT = 10
MIN_SHARPENING = 100  # held-out seeds: fewer say little about links that are nearly all right
LEAST_RECALL = 0.1  # of held-out seeds: with fewer among the confident links, first links grow from the seeds


OnRound = Callable[[Round, Decision], None]
OnStep = Callable[[str], None]


def coordinate(
    model: FittedModel,
    task: AlignmentTask,
    rules: Rules | None = None,
    on_round: OnRound | None = None,
    *,
    kept: KeepsRounds | None = None,
    on_step: OnStep | None = None,
) -> Reasoning:
    """The links of the queries that a fitted model, Easy-to-Hard and a decoder arrive at together.

    In each round the model sees the seeds and the confident links found so far. A link is confident if the decoder chose it, its
    probability is above alpha, and each entity is the best candidate of the other, unless the other may have several links. A model with
    the capability `soft_evidence` sees every plausible link instead, with the mean of the probabilities of the last two rounds.
    Candidates that must not be linked, see `kgalign.features.constraints`, are dropped before anything is decided.

    Where the rules ask for evidence among all entities or for held-out seeds, a wide phase with those queries comes first.

    Args:
        model: A fitted model.
        task: What to align.
        rules: How to reason.
        on_round: Is called after each round, with its figures and what was decided.
        kept: Keeps the state after each round, and has that of an earlier process to go on from.
        on_step: Is called with the name of each step of a round, when it begins.
    """
    check_contract(model, "predict")
    rules = rules or Rules()
    loop = _Loop(model, rules, rules.make_decoder(task.protocol), on_round, kept, on_step)
    wide = _widened(task, rules, model) if rules.max_rounds else None
    # Seeds that are held out must not have led to any link, so they are no seeds of the first links either.
    first = _without_seeds(task, wide[1]) if wide is not None else task
    state = kept.load() if kept else None
    if state is None:
        state = _begin(loop, first, wide)
    else:
        check_state(state, task)
    if wide is not None:
        loop = loop.prepared(wide[0])  # also where a run goes on in the last phase: a model may take from it what both need
        if state.phase != "last":
            state = _run_wide(loop, task, first, *wide, state)
    loop = loop.prepared(task)
    state = _run_phase(loop, task, state)
    alignment = state.alignment.where(np.lexsort((-state.alignment.scores, state.alignment.sources)))
    alignment = replace(alignment, record={**alignment.record, "decoder": rules.decoder_name})
    return Reasoning(alignment, state.candidates, state.evidence, state.known, state.rounds, state.check, state.calibrate)


def confident_links(candidates: Candidates, alpha: float) -> Alignment:
    """The links above alpha in which each is the other's best candidate and no other query wants the target as much.

    An entity that may have several links has all those above alpha in which it is the best candidate of the other.
    """
    probabilities = candidates.probabilities()
    single_source, single_target = one_link(candidates.cardinality)
    rows, slots = np.nonzero(probabilities > alpha)
    targets, values = candidates.targets[rows, slots], probabilities[rows, slots]
    order = np.lexsort((-values, targets))
    rows, slots, targets, values = rows[order], slots[order], targets[order], values[order]
    mutual = np.ones(len(targets), bool)
    if single_target:
        first = np.ones(len(targets), bool)
        first[1:] = targets[1:] != targets[:-1]
        contested = np.zeros(len(targets), bool)
        contested[:-1] = ~first[1:] & (values[1:] == values[:-1])
        mutual = first & ~contested
    if single_source:
        mutual &= values >= probabilities.max(axis=1, initial=0)[rows]
        mutual &= np.bincount(rows[mutual], minlength=len(candidates))[rows] == 1  # with an alpha below 0.5 a row can have two
    rows, targets, values = rows[mutual], targets[mutual], values[mutual]
    return Alignment(np.column_stack([candidates.queries[rows], targets]), np.clip(values, 0, 1))


def enough_new(queries: int) -> int:
    """How many new confident links make another round worth its time, for so many queries."""
    return max(1, min(20, queries // 50), queries // 1000)


@dataclass(frozen=True)
class _Loop:
    """What all rounds have in common."""

    model: FittedModel
    rules: Rules
    decoder: Decoder
    on_round: OnRound | None
    kept: KeepsRounds | None
    on_step: OnStep | None

    def step(self, name: str) -> None:
        """Says what begins."""
        if self.on_step:
            self.on_step(name)

    def prepared(self, task: AlignmentTask) -> _Loop:
        """The same with a model that has found what every round on that task needs; some of it may be that of an earlier task."""
        if not self.model.capabilities.prepares:
            return self
        self.step("preparing")
        return replace(self, model=self.model.for_task(task))  # type: ignore[attr-defined]

    def handed_on(self, state: State) -> State:
        """The same state without its candidates, and kept so: the next prediction finds them anew."""
        state = replace(state, scored=NO_CANDIDATES, candidates=NO_CANDIDATES)
        if self.kept:
            self.kept.keep(state)
        return state


def _begin(loop: _Loop, first: AlignmentTask, wide: tuple[AlignmentTask, Alignment] | None) -> State:
    """The state before the first round, with the links that grow from the seeds where the model has such."""
    found = Alignment.empty()
    if loop.model.capabilities.grows and loop.rules.max_rounds:
        loop.step(GROWING)
        found = loop.model.first_links(first)  # type: ignore[attr-defined]
    if wide is None:
        return State(found=found)
    wrong = _mostly_wrong(_right_and_all(found, wide[1], first.cardinality))
    return State(phase="first") if wrong else State(phase="first", found=found, started=len(found))


def _run_wide(
    loop: _Loop, task: AlignmentTask, first: AlignmentTask, wide: AlignmentTask, held_out: Alignment, state: State
) -> State:
    """The state before the first round of the last phase: what all entities and held-out seeds have taught."""
    if state.phase == "first":
        state = _run_phase(loop, wide, state, held_out)
        if loop.model.capabilities.grows and not state.started and _found_few(state.confident, held_out):
            # Such as where seeds are hubs: what they teach does not fit other entities, and says so here.
            loop.step(GROWING)
            grown = loop.model.first_links(first, always=True)  # type: ignore[attr-defined]
            if len(grown):
                state = loop.handed_on(State(phase="grown", found=grown, rounds=state.rounds))
    if state.phase == "grown":
        state = _run_phase(loop, wide, state, held_out)
    state = replace(state, phase="last", fed_back=0, known=_outside(state.confident, task))
    if len(held_out):
        scored = state.scored if task.protocol == wide.protocol else _predicted(loop, first, state)[0]
        calibrate = _calibration(scored, loop.decoder, task, held_out)
        scored = with_cardinality(calibrate(scored) if calibrate else scored, task.cardinality)
        state = replace(state, check=HeldOut(held_out, _rows_of(scored, held_out)), calibrate=calibrate)
    return loop.handed_on(state)


def _run_phase(loop: _Loop, task: AlignmentTask, state: State, held_out: Alignment | None = None) -> State:
    """The state after the last round on one task; rounds go on until there is little new, or too much of it is wrong.

    Args:
        loop: What all rounds have in common.
        task: The queries and the pool of the phase.
        state: The state before the phase, or after some of its rounds.
        held_out: The seeds that are held out in a wide phase; None: this is the last one.
    """
    model, rules = loop.model, loop.rules
    soft = model.capabilities.soft_evidence and not rules.freeze
    for fed_back in range(state.fed_back, rules.max_rounds + 1):
        began = time.perf_counter()
        scored, evidence = _predicted(loop, task, state)
        loop.step("deciding")
        candidates = _under_cardinality(state.calibrate(scored) if state.calibrate else scored, task)
        alignment, confident = _decide(candidates, task, rules, loop.decoder, state)
        new = confident.where(~np.isin(confident.keys, state.ever_confident))
        seeds = Alignment.empty() if held_out is None else held_out
        checked, new_checked = (_right_and_all(links, seeds, task.cardinality) for links in (confident, new))
        before = state.alignment.where(np.isin(state.alignment.sources, task.queries))
        figures = Round(
            number=len(state.rounds) + 1,
            queries=len(task.queries),
            confident=len(confident),
            new=len(new),
            mean_probability=round(float(confident.scores.mean()), 4) if len(confident) else None,
            held_out=checked,
            new_held_out=new_checked,
            changed=_changed(before, alignment) if len(state.alignment) else 0,
            matched=len(alignment),
            seconds=time.perf_counter() - began,
            stopped=_why_stop(fed_back, rules, len(new), _deciding(task), new_checked),
            is_wide=held_out is not None,
        )
        state = replace(
            state,
            fed_back=fed_back + 1,
            scored=scored,
            candidates=candidates,
            alignment=alignment,
            evidence=evidence,
            rounds=(*state.rounds, figures),
        )
        if not _mostly_wrong(new_checked):
            elsewhere, here = _split(state.found, task)
            state = replace(
                state,
                confident=confident,
                ever_confident=np.union1d(state.ever_confident, confident.keys),
                found=elsewhere + (_mean(here, plausible_candidates(_under_cardinality(scored, task))) if soft else confident),
            )
        logger.info("%s", figures)
        if loop.on_round:
            loop.on_round(figures, Decision(candidates, alignment, confident))
        if figures.stopped:
            break
        state = loop.handed_on(state)
        del scored, candidates  # the next prediction needs the room
    return state


def _predicted(loop: _Loop, task: AlignmentTask, state: State) -> tuple[Candidates, Alignment]:
    """The candidates as the model scores them, without those that must not be linked, and the links that it was given as known."""
    loop.step(PREDICTING)
    evidence = task.seeds + apart(state.found, task.seeds, task.cardinality)
    scored = loop.model.predict(task, evidence)
    if not isinstance(scored, Candidates):
        raise OptionError(
            f"predict of the model {type(loop.model).__name__} returned {type(scored).__name__}: expected kgalign.Candidates"
        )
    return allowed_candidates(task, scored), evidence


def _decide(
    candidates: Candidates, task: AlignmentTask, rules: Rules, decoder: Decoder, state: State
) -> tuple[Alignment, Alignment]:
    """All links as they stand after this round, and the confident ones among them."""
    alignment = decoder(candidates)
    if not rules.max_rounds:
        return alignment, Alignment.empty()
    confident = confident_links(candidates, rules.alpha)
    confident = _dated(confident.where(confident.among(alignment)), state.confident, len(state.rounds) + 1)
    if rules.freeze:
        kept = state.confident
        kept = kept.where(np.isin(kept.sources, task.queries) & np.isin(kept.targets, task.pool))
        confident = kept + apart(confident, kept, task.cardinality)
    return _with_confident(confident, alignment, candidates, decoder, rules.freeze), confident


def _why_stop(fed_back: int, rules: Rules, new: int, queries: int, new_checked: tuple[int, int]) -> str | None:
    """Why this round is the last one, None if it is not."""
    least = rules.min_new or enough_new(queries)
    if rules.max_rounds == 0:
        return "plain decoding"
    if fed_back == rules.max_rounds:
        return f"{rules.max_rounds} {'round' if rules.max_rounds == 1 else 'rounds'} done"
    if new < least:
        return f"{new} new confident {'link' if new == 1 else 'links'}, fewer than {least}"
    if _mostly_wrong(new_checked):
        return f"{new_checked[0]} of {new_checked[1]} new confident links of held-out seeds are right"
    return None


def _deciding(task: AlignmentTask) -> int:
    """How many entities choose among candidates: those of the smaller side, or of the only one that has one link at most."""
    single_source, single_target = one_link(task.cardinality)
    if single_source == single_target:
        return min(len(task.queries), len(task.pool))
    return len(task.queries if single_source else task.pool)


def _mostly_wrong(checked: tuple[int, int]) -> bool:
    """Whether enough links were checked, and fewer than half of them are right."""
    right, seen = checked
    return seen >= MIN_NEW_HELD_OUT and right < seen / 2


def _calibration(scored: Candidates, decoder: Decoder, task: AlignmentTask, held_out: Alignment) -> Rescaling | Sharpening | None:
    """What held-out seeds, which were queries, teach about probabilities; None where they do not tell.

    In the open protocol a model may know which queries have no match. Held-out seeds all have one.
    """
    if not np.isfinite(scored.no_match_score):
        fitted = calibrated(scored, held_out, task.cardinality)
        return Rescaling(fitted.temperature, fitted.no_match_score)
    if task.protocol == "closed" and task.cardinality == "one-to-one" and len(held_out) >= MIN_SHARPENING:
        return Sharpening.fit(scored, decoder(scored), held_out)
    return None


def _found_few(confident: Alignment, held_out: Alignment) -> bool:
    """Whether hardly any held-out seed has been found, although each has a match."""
    return len(held_out) > 0 and held_out.among(confident).sum() < LEAST_RECALL * len(held_out)


def _widened(task: AlignmentTask, rules: Rules, model: FittedModel) -> tuple[AlignmentTask, Alignment] | None:
    """The task with the queries of the wide phase, and its held-out seeds; None where it would be the same task."""
    wide, widened = task, False
    if rules.all_entities:
        queries, pool = (
            np.setdiff1d(np.arange(len(graph.entities)), seeds if single else ())
            for graph, seeds, single in zip((task.source, task.target), task.seeds.pairs.T, one_link(task.cardinality), strict=True)
        )
        if len(queries) > len(task.queries) or len(pool) > len(task.pool):
            wide, widened = replace(task, queries=queries, pool=pool, protocol="open"), True
    share = 0.0 if model.capabilities.learns_from_seeds else rules.held_out
    if share * len(task.lessons) >= MIN_HELD_OUT:
        return hold_out(wide, share, rules.seed)
    return (wide, Alignment.empty()) if widened else None


def _without_seeds(task: AlignmentTask, held_out: Alignment) -> AlignmentTask:
    """The task in which held-out seeds are queries."""
    queries, pool = np.union1d(task.queries, held_out.sources), np.union1d(task.pool, held_out.targets)
    return replace(task, seeds=task.seeds.where(~task.seeds.among(held_out)), queries=queries, pool=pool)


def _with_confident(
    confident: Alignment, alignment: Alignment, candidates: Candidates, decoder: Decoder, freeze: bool
) -> Alignment:
    """All links, the confident ones among them.

    Where those are not the decoder's own, or other links have their targets, the rest is decided again without those targets.
    """
    taken = one_link(candidates.cardinality)[1] and np.isin(alignment.targets, confident.targets).sum() > len(confident)
    if freeze or taken:
        rest = decoder(_withdraw(candidates, confident))
        # What is left of a row is no more probable for what was taken out of it.
        rest = replace(rest, scores=np.minimum(rest.scores, _probabilities_of(rest, candidates)))
        return replace(confident + rest, record=rest.record)
    return replace(confident + apart(alignment, confident, candidates.cardinality), record=alignment.record)


def _probabilities_of(links: Alignment, candidates: Candidates) -> Floats:
    """(n,) the probability of each of these links, which are among the candidates."""
    order = np.argsort(candidates.queries)
    rows = order[np.searchsorted(candidates.queries, links.sources, sorter=order)]
    return np.where(candidates.targets[rows] == links.targets[:, None], candidates.probabilities()[rows], 0).sum(axis=1)


def plausible_candidates(candidates: Candidates) -> Alignment:
    """Every link that may be right, with its probability; a target with one link that several queries claim is shared among them."""
    probabilities = candidates.probabilities()
    rows, slots = np.nonzero(probabilities > LEAST_PLAUSIBLE)
    targets, values = candidates.targets[rows, slots], probabilities[rows, slots]
    if len(targets) and one_link(candidates.cardinality)[1]:
        values = values / np.maximum(np.bincount(targets, values), 1)[targets]
    return Alignment(np.column_stack([candidates.queries[rows], targets]), np.clip(values, 0, 1))


def _mean(before: Alignment, now: Alignment) -> Alignment:
    """The mean probabilities of two rounds, which keeps the rounds from oscillating."""
    if not len(before):
        return now
    both = before + now
    keys, first, where = np.unique(both.keys, return_index=True, return_inverse=True)
    scores = np.bincount(where, both.scores / 2, len(keys))
    return Alignment(both.pairs[first], np.minimum(scores, 1)).where(scores > LEAST_PLAUSIBLE)


def _split(links: Alignment, task: AlignmentTask) -> tuple[Alignment, Alignment]:
    """The links outside the queries and the pool, which stand as they are, and the others."""
    here = np.isin(links.sources, task.queries) | np.isin(links.targets, task.pool)
    return links.where(~here), links.where(here)


def _outside(confident: Alignment, task: AlignmentTask) -> Alignment:
    """The confident links of entities that are neither queries, nor in the pool, nor seeds."""
    return apart(_split(confident, task)[0], task.seeds, task.cardinality)


def apart(found: Alignment, known: Alignment, cardinality: Cardinality) -> Alignment:
    """The links that can stand beside the known ones: they touch no entity of them that has one link at most."""
    return found.where(~_excluded(found, known, cardinality))


def _excluded(links: Alignment, known: Alignment, cardinality: Cardinality) -> Ints:
    """(n,) whether each link is a known one, or touches an entity of one that has one link at most."""
    single_source, single_target = one_link(cardinality)
    excluded = np.isin(links.sources, known.sources) if single_source else np.zeros(len(links), bool)
    if single_target:
        excluded |= np.isin(links.targets, known.targets)
    return excluded if single_source or single_target else links.among(known)


def _right_and_all(found: Alignment, held_out: Alignment, cardinality: Cardinality) -> tuple[int, int]:
    """Of the links that held-out seeds can judge, how many are right, and how many there are.

    They judge links of an entity that has one link at most. Where all entities may have several, no link is known to be wrong.
    """
    if not any(one_link(cardinality)):
        return 0, 0
    checked = found.where(_excluded(found, held_out, cardinality))
    return int(checked.among(held_out).sum()), len(checked)


def _withdraw(candidates: Candidates, confident: Alignment) -> Candidates:
    """The candidates that can still become links beside the confident ones; queries with a confident link have none where it is their one."""
    single_source, _ = one_link(candidates.cardinality)
    rest = candidates.where(~np.isin(candidates.queries, confident.sources)) if single_source else candidates
    return _without(rest, confident)


def _under_cardinality(scored: Candidates, task: AlignmentTask) -> Candidates:
    """The candidates as the cardinality of the task has them. Seeds can be among them where both their entities may have more links."""
    candidates = with_cardinality(scored, task.cardinality)
    return candidates if any(one_link(task.cardinality)) or not len(task.seeds) else _without(candidates, task.seeds)


def _rows_of(candidates: Candidates, links: Alignment) -> Candidates:
    """The candidates of the queries that have these links, and of those that compete for a target of them."""
    chosen = np.isin(candidates.queries, links.sources)
    if candidates.cardinality == "one-to-many":
        chosen |= np.isin(candidates.targets, links.targets).any(axis=1)
    return candidates.where(chosen)


def _without(candidates: Candidates, known: Alignment) -> Candidates:
    """The same candidates less those that cannot be links beside the known ones."""
    queries = np.broadcast_to(candidates.queries[:, None], candidates.targets.shape)
    links = Alignment(np.column_stack([queries.ravel(), candidates.targets.ravel()]))
    gone = _excluded(links, known, candidates.cardinality).reshape(candidates.targets.shape) | (candidates.targets < 0)
    scores = np.where(gone, -np.inf, candidates.scores)
    order = np.argsort(-scores, axis=1, kind="stable")
    targets = np.take_along_axis(np.where(gone, -1, candidates.targets), order, axis=1)
    return replace(candidates, targets=targets, scores=np.take_along_axis(scores, order, axis=1))


def _dated(found: Alignment, confident: Alignment, number: int) -> Alignment:
    """The same links, each with the round since which it has been confident without a break."""
    rounds = np.full(len(found), number, np.int64)
    if len(confident):
        order = np.argsort(confident.keys)
        places = np.minimum(np.searchsorted(confident.keys, found.keys, sorter=order), len(order) - 1)
        same = confident.keys[order[places]] == found.keys
        rounds[same] = confident.rounds[order[places[same]]]
    return replace(found, rounds=rounds)


def _changed(before: Alignment, after: Alignment) -> int:
    """How many queries have another match, or have gained or lost one."""
    gone, new = before.where(~before.among(after)), after.where(~after.among(before))
    return int(np.union1d(gone.sources, new.sources).size)
