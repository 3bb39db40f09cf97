"""docs/results.md and its plots, made from the lines of results.jsonl. The same lines give the same bytes."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.page import (
    engine_sections,
    own_sections,
    paper_tables,
    real_section,
    review_section,
    seeds_section,
    tables_section,
    training_sections,
)
from benchmarks.results import ROOT, Results

PAGE = ROOT / "docs" / "results.md"
SECTIONS: tuple[Callable[[Results], str], ...] = (
    real_section.real_graphs,
    real_section.negative_evidence,
    review_section.reviews,
    engine_sections.review_answers,
    tables_section.tables_beside_splink,
    own_sections.default_model,
    own_sections.default_model_open,
    seeds_section.seeds,
    seeds_section.regimes,
    own_sections.small_graphs,
    own_sections.ablation,
    own_sections.growth,
    engine_sections.threads,
    engine_sections.engines,
    own_sections.swapped,
    own_sections.updates,
    own_sections.reading,
    paper_tables.table2,
    paper_tables.gains,
    training_sections.training_costs,
    training_sections.calibration,
    training_sections.refitted,
    training_sections.gm_details,
    training_sections.gm_speed,
    paper_tables.table3,
    paper_tables.table4,
    paper_tables.choices,
    paper_tables.other_datasets,
    own_sections.names_closed,
    own_sections.names_open,
    own_sections.solvers,
)

INTRODUCTION = """\
# Results

Every figure on this page comes from a line of `benchmarks/results.jsonl`. `kgalign bench` and the scripts in `benchmarks/measure/` write
the lines; `python -m benchmarks.page` makes the page from them. Each line has the commit, the options, the seed, the hardware, the seconds
and the memory. To make a table again, or to add a system to it:

    kgalign download dbp15k
    kgalign bench table2 --data dbp15k --models gcn_align,fast --results my.jsonl

## What the figures mean

**hits@1** is the share of the 10,500 test queries that are linked to their right target. A query without a link counts as wrong.

**Data.** DBP15K has three pairs of DBpedia graphs in two languages with 15,000 links each. The canonical split has 4,500 seeds, which
systems may learn from, and 10,500 test links. The names of the other language are translated into English by machine.

**Closed and open.** *Closed*: the queries are the 10,500 test sources, the candidate pool holds the 10,500 test targets, and every query
has a counterpart. Papers measure in this protocol, and so do the tables here unless they say otherwise. *Open*: all entities without a
seed are queries and candidates, and a third of them has no gold link. Users who align their own graphs are in this situation. Figures
of the two protocols do not compare.

**Model selection.** Only `evaluate` reads the test links. Epochs, options and temperatures are chosen on development links, which are a
tenth of the seeds. A table that is measured on development links says so.

**Mean and spread** are over seeds: the mean, then ± and the standard deviation. A figure without ± comes from one seed.

## What the paper did differently

The paper is Xu et al., Coordinated Reasoning for Cross-Lingual Knowledge Graph Alignment (AAAI 2020). The tables show its figures beside
ours, but the experiments differ:

- **Graphs.** The paper's Table 1 describes the full DBP15K (66,000 and more entities in each graph). The public data of the systems that it
  compares with is the condensed version (about 20,000 entities in each graph), which leaves out triples with rare entities. All our figures
  are on the condensed version. The two do not compare: in one study, GCN-Align reached 31 to 33 on the full graphs and 43 to 45 on the
  condensed ones (Berrendorf et al., ECIR 2020).
- **Copied rows.** The paper copies its rows without reasoning, except GM, from earlier papers. We wrote all systems anew in PyTorch, with
  one split, one rule for when training stops, and options chosen on development links. Where our row without reasoning is above the
  paper's, the reason is the training, not the reasoning. To see what reasoning adds, compare our row with reasoning with our row without.
- **Names.** The paper has names from Google Translate and GloVe vectors of 300 dimensions. Ours are public translations of the same kind and
  GloVe vectors of 100 dimensions. RDGCN and GM use character n-grams beside words here; the rows *as published* of GM do not.
- **Choice on test links.** The released code of several systems prints figures on the test links during training, and some of it stops
  training by them. Here development links pick the epoch.
- **Reasoning.** The paper keeps ten candidates, never drops a confident link, and removes candidates with a probability below
  tau = 0.10. Here the candidate lists are longer, each round decides anew, and the optimum is over all candidates.

The section on Table 2 lists the figures that are below the paper's.
"""


def page(results: Results) -> str:
    """The text of the page."""
    return "\n".join([INTRODUCTION, *filter(None, (section(results) for section in SECTIONS))])
