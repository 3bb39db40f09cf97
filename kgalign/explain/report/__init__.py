"""The report of a run: one self-contained HTML page with its figures, its rounds, and the evidence for each link."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign.data import Alignment, AlignmentTask
from kgalign.explain.evidence import Evidence
from kgalign.explain.report.tables import link_tables
from kgalign.features.relations import RelationMatch
from kgalign.iri import local_name
from kgalign.reasoning import Reasoning
from kgalign.version import __version__

HERE = Path(__file__).parent
MOST_RELATIONS = 40
MOST_DECIDED = 200  # matches of people that are listed
FIGURES = {
    "hits@1": "of the test links were found",
    "precision": "of the links that test links can judge are right",
    "mrr": "mean of 1 / rank of the right candidate",
    "many_to_one": "of the links share their target",
    "one_to_many": "of the links share their source",
    "ece": "calibration error: mean distance of probabilities from the truth",
}
PROTOCOLS = {
    "closed": "the queries and the candidate pool are the entities of the test links, so every query has a match.",
    "open": "all entities without a seed are queries or in the candidate pool, and many have no match. "
    "Links that touch no test link are not judged.",
}


def render(
    task: AlignmentTask,
    reasoning: Reasoning,
    evidence: Evidence,
    *,
    metrics: Mapping[str, Any] | None = None,
    gold: Alignment | None = None,
    options: Mapping[str, Any] | None = None,
    seconds: Mapping[str, float] | None = None,
    inputs: Mapping[str, str] | None = None,
    relations: Sequence[RelationMatch] = (),
    reliability: Sequence[Mapping[str, float]] = (),
) -> str:
    """The page as HTML. It holds all its data, and a browser runs no scripts in it but its own.

    Args:
        task: The task that was aligned.
        reasoning: Its links, candidates and rounds.
        evidence: The evidence for the links.
        metrics: The figures, where there are gold links.
        gold: The gold links; they mark right and wrong links.
        options: The options of the run, for the name of the model.
        seconds: The time of each stage.
        inputs: Path and SHA-256 of each file that was read.
        relations: Relations that match, best first.
        reliability: How often links are right, by probability.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    alignment = reasoning.alignment
    rounds = [figures.summary() for figures in reasoning.rounds if figures.stopped != "plain decoding"]
    decoder = str(alignment.record.get("decoder", "the decoder"))
    data = link_tables(task, evidence, gold) | {"rounds": rounds, "reliability": list(reliability), "decoder": decoder}
    script = "".join((HERE / name).read_text("utf-8") for name in ("drawing.js", "report.js"))
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page.filters["local_name"] = local_name
    return page.from_string((HERE / "report.html.j2").read_text("utf-8")).render(
        title=f"{len(task.and_decided(alignment)):,} links",
        headline=_headline(task, alignment),
        lead=_lead(alignment),
        sizes=_sizes(task, alignment),
        facts=_facts(task, alignment, decoder, options or {}, seconds or {}),
        remarks=[*_remarks(task), *_decided(task)],
        inputs=sorted((inputs or {}).items()),
        figures=_figures(metrics or {}),
        gold=(metrics or {}).get("gold", 0),
        protocol=task.protocol,
        protocol_meaning=PROTOCOLS[task.protocol],
        story_title="What the update has changed" if "update" in (options or {}) else "From easy to hard",
        story=_update_story(options["update"], task) if options and "update" in options else _story(rounds),
        rounds=rounds,
        reliability=reliability,
        measured_by="test links" if gold is not None else "held-out seeds",
        cut=_cut(alignment, evidence),
        relations=relations[:MOST_RELATIONS],
        more_relations=max(0, len(relations) - MOST_RELATIONS),
        version=__version__,
        style=Markup((HERE / "report.css").read_text("utf-8")),
        data=Markup(as_json(data)),
        script=Markup(script),
        script_hash=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
    )


def as_json(data: Any) -> str:
    """Compact JSON that cannot end the script element around it, whatever names it holds."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _headline(task: AlignmentTask, alignment: Alignment) -> str:
    matched = len(np.unique(alignment.sources))
    headline = f"{matched:,} of {_count(len(task.queries), 'query', 'queries')} matched"
    headline = headline if matched == len(alignment) else f"{headline}, by {_count(len(alignment), 'link')}"
    decided = len(task.and_decided(alignment)) - len(alignment)
    return f"{headline}, and {_count(decided, 'match', 'matches')} decided by people" if decided else headline


def _lead(alignment: Alignment) -> str:
    confident, implausible = int((alignment.scores >= 0.9).sum()), int((alignment.scores < 0.5).sum())
    below = "1 is below 0.5 and needs a review" if implausible == 1 else f"{implausible:,} are below 0.5 and need a review"
    rest = below if implausible else "none is below 0.5"
    return f"{_count(confident, 'link')} with a probability of 0.9 or more; {rest}."


def _sizes(task: AlignmentTask, alignment: Alignment) -> list[tuple[str, int, int]]:
    """The sizes of both graphs, line by line."""
    source, target = task.source, task.target
    unmatched = task.unmatched(task.and_decided(alignment))
    return [
        ("entities", len(source.entities), len(target.entities)),
        ("relations", len(source.relations), len(target.relations)),
        ("triples", len(source.triples), len(target.triples)),
        ("queries, candidate pool", len(task.queries), len(task.pool)),
        ("unmatched", len(unmatched[0]), len(unmatched[1])),
    ]


def _remarks(task: AlignmentTask) -> list[tuple[str, Sequence[str]]]:
    """Remarks about the files: broken statements, with the first few of them, and entities that are left out."""
    remarks: list[tuple[str, Sequence[str]]] = []
    for side, graph in (("source", task.source), ("target", task.target)):
        seen = graph.record
        if seen.get("broken"):
            remarks.append((f"Broken statements of the {side}, left out: {seen['broken']:,}.", seen["first broken"]))
        if seen.get("mended"):
            text = f"Statements of the {side} that break the rules but could be read: {seen['mended']:,}."
            remarks.append((text, seen["first mended"]))
        if seen.get("classes left out"):
            remarks.append((f"Classes and properties of the {side} that were not aligned: {seen['classes left out']:,}.", ()))
    return remarks


def _decided(task: AlignmentTask) -> list[tuple[str, Sequence[str]]]:
    """A remark that lists what people have decided to be the same."""
    if not len(task.decided):
        return []
    ends = [
        [graph.names[number] or graph.entities[number] for number in ids.tolist()]
        for graph, ids in ((task.source, task.decided.sources), (task.target, task.decided.targets))
    ]
    shown = [f"{one} = {other}" for one, other in zip(*ends, strict=True)]
    more = f"; the first {MOST_DECIDED}" if len(shown) > MOST_DECIDED else ""
    return [(f"Matches that people decided, which are seeds and links of this run: {len(shown):,}{more}:", shown[:MOST_DECIDED])]


def _facts(
    task: AlignmentTask, alignment: Alignment, decoder: str, options: Mapping[str, Any], seconds: Mapping[str, float]
) -> list[tuple[str, str]]:
    links = len(task.and_decided(alignment))
    facts = [("seeds", f"{len(task.seeds):,}"), ("links", f"{links:,}"), ("protocol", task.protocol)]
    if links > len(alignment):
        facts.insert(2, ("decided by people", f"{links - len(alignment):,}"))
    if task.cardinality != "one-to-one":
        facts.append(("cardinality", task.cardinality))
    if "model" in options:
        facts.append(("model", str(options["model"])))
    return [*facts, ("decoder", decoder), ("time", f"{sum(seconds.values()):,.1f} s")]


def _figures(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(name.replace("_", " "), f"{metrics[name]:.3f}", meaning) for name, meaning in FIGURES.items() if name in metrics]


def _story(rounds: Sequence[Mapping[str, Any]]) -> str:
    """The rounds in sentences."""
    if not rounds:
        return "The decoder decided all links at once, without rounds."
    first, last = rounds[0], rounds[-1]
    wide = sum(line["queries"] > last["queries"] for line in rounds)
    among = f" among {_count(first['queries'], 'query', 'queries')}, those that are only evidence included" if wide else ""
    story = f"The first round found {_count(first['confident'], 'confident link')}{among}."
    if len(rounds) > 1:
        found = sum(line["new"] for line in rounds[1:])
        story += (
            f" With those as evidence, {_count(len(rounds) - 1, 'more round')} found {found:,} that {'was' if found == 1 else 'were'} not "
            f"confident before. In the last one, {_count(last['confident'], 'link')} of {_count(last['queries'], 'query', 'queries')} "
            f"{'is' if last['confident'] == 1 else 'are'} confident."
        )
    checked = next((line for line in reversed(rounds) if line["held_out"]["confident"]), None)
    if checked:
        right, seen = checked["held_out"]["right"], checked["held_out"]["confident"]
        story += f" Among the confident links of held-out seeds, {right:,} of {seen:,} are right."
    return f"{story} Rounds ended after round {rounds[-1]['round']}: {rounds[-1]['stopped']}."


def _update_story(update: Mapping[str, Any], task: AlignmentTask) -> str:
    """What an update has changed, in sentences."""
    links = update["links"]
    given = f", {links['given']:,} given as seeds or decided by people" if links["given"] else ""
    return (
        f"This run is an update of an earlier one: {_count(len(task.queries), 'query', 'queries')} in all, {update['decided_again']:,} of them "
        f"decided again. Links: {links['new']:,} new, {links['gone']:,} gone, {links['changed']:,} changed{given}. "
        "All others are as they were; changes.tsv lists each change with its reason."
    )


def _count(number: int, what: str, several: str = "") -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def _cut(alignment: Alignment, evidence: Evidence) -> str:
    left = len(alignment) - int((evidence.links >= 0).sum())
    listed = f"The list has the {len(evidence.sources):,} links with the lowest probability"
    return f"{listed}; alignment.tsv has {left:,} more." if left else ""
