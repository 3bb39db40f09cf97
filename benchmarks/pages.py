"""Makes docs/results.md and its pictures out of results.jsonl; the same lines give the same bytes."""

from __future__ import annotations

from benchmarks import own_sections, paper_sections
from benchmarks.plots import write_plots
from benchmarks.results import ROOT

PAGE = ROOT / "docs" / "results.md"

INTRODUCTION = """\
# Results

Every figure on this page comes from a line of `benchmarks/results.jsonl`, written by `kgalign bench` or by a script in `benchmarks/`; the
page is made from that file by `python -m benchmarks.pages`. Each line has the commit, the options, the seed, the machine, the seconds and
the memory. To make a table again, or to add a system to it:

    kgalign download dbp15k
    kgalign bench table2 --data dbp15k --models gcn_align,fast --results my.jsonl

## What the figures mean

**hits@1** is the share of the 10,500 test sources that were given their right target. A source without an answer counts as wrong.

**Data.** DBP15K, three pairs of DBpedia graphs in two languages, 15,000 links each; the canonical split of 4,500 seeds, which systems may
learn from, and 10,500 test links; names of the other language translated into English by machine.

**Closed and open.** *Closed*: the 10,500 test sources choose among the 10,500 test targets, and everybody has a counterpart. The papers
measure like this, and so do the tables here unless they say otherwise. *Open*: every entity without a seed is asked and on offer; a third
has no counterpart in the gold links. That is what it is like to align graphs of one's own. Figures of the two do not compare.

**What is chosen on what.** Test links are read by `evaluate` alone. Epochs, options and temperatures are chosen on development links, a
tenth of the seeds. A table that is measured on development links says so.

**Mean and spread** are over seeds: the mean, and the standard deviation after ±. Where there is no ±, one seed was run.

## What the paper did differently

The paper is Xu et al., Coordinated Reasoning for Cross-Lingual Knowledge Graph Alignment (AAAI 2020). Our figures stand beside its own, but
they are not of the same experiment:

- **Graphs.** Its Table 1 describes the full DBP15K (66,000 and more entities a side). The public data of the systems that it compares with
  are the condensed one (about 20,000 a side), which leaves out triples that lead to rare entities; all our figures are of that one. The two
  do not compare: trained by the same people, GCN-Align reached 31 to 33 on the full graphs and 43 to 45 on the condensed ones (Berrendorf
  et al., ECIR 2020).
- **Copied rows.** Its rows of systems without reasoning, but for GM, are those that earlier papers printed. Ours were all written anew in
  PyTorch, with one split, one way to stop, and options that were chosen on development links. Where such a row of ours is above the paper's
  figure, that is a matter of training and no merit of reasoning: compare a row with reasoning with ours without it.
- **Names.** It has names from Google Translate, and GloVe vectors of 300 dimensions; ours are public translations of the same kind and
  GloVe vectors of 100. RDGCN and GM have character n-grams beside words here; the rows of GM *as published* are without.
- **Choice on test links.** The released code of several systems prints figures of the test links while it trains, and some of it stops by
  them. Here epochs are picked on development links.
- **Reasoning.** The paper keeps ten candidates, never takes an easy pair back, and drops candidates below tau = 0.10. Here lists are longer,
  each round decides anew, and the optimum is over all candidates.

Where ours is below the paper, the section on Table 2 says so below its table.
"""


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    write_plots()
    print(f"{PAGE} written")


def page() -> str:
    """The whole page."""
    sections = (*own_sections.FAST, *paper_sections.SECTIONS, *own_sections.REST)
    return "\n".join([INTRODUCTION, *filter(None, (section() for section in sections))])


if __name__ == "__main__":
    main()
