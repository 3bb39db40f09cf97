"""One self-contained HTML page of a run: what was read, decided and found, and the evidence for each link."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgalign.version import __version__
from kgalign.explain.evidence import Evidence
from kgalign.iri import local_name
from kgalign.explain.report.tables import link_tables

if TYPE_CHECKING:
    from kgalign.runs.run import Run

HERE = Path(__file__).parent
MOST_RELATIONS = 40
FIGURES = {
    "hits@1": "of the test links were found",
    "precision": "of the links that can be checked are right",
    "mrr": "mean of 1 / place of the right candidate",
    "many_to_one": "of the links share their target",
    "ece": "how far probabilities are from the truth, on average",
}
PROTOCOLS = {
    "closed": "only entities of test links were asked and on offer, so everybody has a partner.",
    "open": "everything without a seed was asked and on offer, and many have no partner; what no test link touches is not judged.",
}


def write_report(run: Run, evidence: Evidence, path: Path) -> None:
    """Writes the page of a run."""
    path.write_text(render(run, evidence), encoding="utf-8", newline="\n")


def render(run: Run, evidence: Evidence) -> str:
    """The page as HTML. It holds all its data, and its scripts are the only ones that a browser will run in it."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    rounds = [each.summary() for each in run.reasoning.rounds if each.stopped != "plain decoding"]
    bins = list(run.reliability)
    decoder = str(run.alignment.record.get("decoder", "the decoder"))
    data = link_tables(run.task, evidence, run.gold) | {"rounds": rounds, "reliability": bins, "decoder": decoder}
    script = (HERE / "report.js").read_text("utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page.filters["local_name"] = local_name
    return page.from_string((HERE / "report.html.j2").read_text("utf-8")).render(
        title=f"{len(run.alignment):,} links",
        headline=f"{len(run.alignment):,} of {len(run.task.queries):,} entities have a partner",
        lead=_lead(run),
        sizes=_sizes(run),
        facts=_facts(run, decoder),
        remarks=_remarks(run),
        inputs=sorted(run.inputs.items()),
        figures=_figures(run.metrics),
        gold=(run.metrics or {}).get("gold", 0),
        protocol=run.task.protocol,
        protocol_meaning=PROTOCOLS[run.task.protocol],
        story=_story(rounds),
        rounds=rounds,
        reliability=bins,
        reliability_note=(
            "Each dot is a group of links that were given about the same probability; its size tells how many. "
            "On the dotted line as many are right as was said, above it more, below it fewer. "
            + ("Measured by the test links." if run.gold is not None else "Measured by seeds that were held back at first.")
        ),
        cut=_cut(run, evidence),
        relations=run.relations[:MOST_RELATIONS],
        more_relations=max(0, len(run.relations) - MOST_RELATIONS),
        version=__version__,
        style=Markup((HERE / "report.css").read_text("utf-8")),
        data=Markup(as_json(data)),
        script=Markup(script),
        script_hash=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
    )


def as_json(data: Any) -> str:
    """Compact JSON that cannot end the script element it stands in, whatever names it holds."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _lead(run: Run) -> str:
    scores = run.alignment.scores
    sure, unlikely = int((scores >= 0.9).sum()), int((scores < 0.5).sum())
    look = f"; {unlikely:,} are below 0.5 and want a look" if unlikely else ", none is below 0.5"
    return f"{sure:,} of the links have a probability of 0.9 or more{look}."


def _sizes(run: Run) -> list[tuple[str, int, int]]:
    source, target = run.task.source, run.task.target
    alone, alone_too = run.task.unmatched(run.alignment)
    return [
        ("entities", len(source.entities), len(target.entities)),
        ("relations", len(source.relations), len(target.relations)),
        ("triples", len(source.triples), len(target.triples)),
        ("asked, and on offer", len(run.task.queries), len(run.task.pool)),
        ("of these without a partner", len(alone), len(alone_too)),
    ]


def _remarks(run: Run) -> list[tuple[str, Sequence[str]]]:
    """What a reader should know of the files: what was wrong with them, with the first few cases, and who was not asked."""
    remarks: list[tuple[str, Sequence[str]]] = []
    for side, graph in (("source", run.task.source), ("target", run.task.target)):
        seen = graph.record
        if seen.get("broken"):
            remarks.append((f"Of the {side}, what is broken was left out, {_count(seen['broken'], 'time')}.", seen["first broken"]))
        if seen.get("mended"):
            remarks.append(
                (f"Of the {side}, {_count(seen['mended'], 'statement')} broke the rules but could be read.", seen["first mended"])
            )
        if seen.get("classes not asked"):
            remarks.append((f"Classes and properties of the {side} that were not asked: {seen['classes not asked']:,}.", ()))
    return remarks


def _facts(run: Run, decoder: str) -> list[tuple[str, str]]:
    facts = [("seeds", f"{len(run.task.seeds):,}"), ("links", f"{len(run.alignment):,}"), ("protocol", run.task.protocol)]
    if "model" in run.options:
        facts.append(("model", str(run.options["model"])))
    facts.append(("decoder", decoder))
    facts.append(("time", f"{sum(run.seconds.values()):,.1f} s"))
    return facts


def _figures(metrics: Mapping[str, Any] | None) -> list[tuple[str, str, str]]:
    return [
        (name.replace("_", " "), f"{metrics[name]:.3f}", meaning)
        for name, meaning in FIGURES.items()
        if metrics and name in metrics
    ]


def _story(rounds: Sequence[Mapping[str, Any]]) -> str:
    """What happened, in sentences."""
    if not rounds:
        return "Everything was decided in one go, without rounds."
    story = f"The first round was sure of {rounds[0]['confident']:,} pairs."
    later = sum(line["new"] for line in rounds[1:])
    if len(rounds) > 1:
        story += f" With those as evidence, {_count(len(rounds) - 1, 'more round')} made another {later:,} sure for the first time."
    checked = next((line for line in reversed(rounds) if line["held_out"]["confident"]), None)
    if checked:
        right, seen = checked["held_out"]["right"], checked["held_out"]["confident"]
        story += f" Seeds that were held back show how sure that is: {right:,} of {seen:,} were right."
    return f"{story} It ended after round {rounds[-1]['round']}: {rounds[-1]['stopped']}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _cut(run: Run, evidence: Evidence) -> str:
    left = len(run.alignment) - int((evidence.links >= 0).sum())
    return f"The {len(evidence.sources):,} least sure are listed; {left:,} more are in alignment.tsv." if left else ""
