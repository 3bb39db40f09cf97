"""The links of a run by the IRIs of their entities: as tuples, and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple, overload

from kgalign.data import Alignment, AlignmentTask
from kgalign.errors import OptionError
from kgalign.notebook import Shown, html_table
from kgalign.writers.parquet import link_columns

FIRST = 10  # links that a notebook shows


class Link(NamedTuple):
    """A link: the IRIs of its entities, and its probability."""

    source: str
    target: str
    probability: float


@dataclass(frozen=True, eq=False, repr=False)
class Links(Sequence[Link]):
    """The links of a run. As a sequence: tuples of source IRI, target IRI and probability.

    Attributes:
        task: The task that was aligned.
        alignment: The links by the ids of their entities.
    """

    task: AlignmentTask
    alignment: Alignment

    def __len__(self) -> int:
        return len(self.alignment)

    @overload
    def __getitem__(self, place: int) -> Link: ...
    @overload
    def __getitem__(self, place: slice) -> list[Link]: ...
    def __getitem__(self, place: int | slice) -> Link | list[Link]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        source, target = self.alignment.pairs[place].tolist()
        return Link(self.task.source.entities[source], self.task.target.entities[target], float(self.alignment.scores[place]))

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with the columns of alignment.tsv, one row for each link."""
        import pyarrow as pa  # slow to import

        columns = link_columns(self.alignment, self.task)
        plain = {name: column.cast(pa.string()) if isinstance(column, pa.Array) else column for name, column in columns.items()}
        return pa.table(plain)

    def to_pandas(self) -> Any:
        """A pandas data frame with the columns of alignment.tsv."""
        _needed("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars data frame with the columns of alignment.tsv."""
        return _needed("polars").from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        return f"Links({len(self)})"

    def _repr_html_(self) -> str:
        source, target = self.task.source, self.task.target
        pairs = zip(self.alignment.pairs.tolist(), self.alignment.scores.tolist(), strict=True)
        rows = [
            (Shown(source.names[left], source.entities[left]), Shown(target.names[right], target.entities[right]), float(score))
            for (left, right), score in islice(pairs, FIRST)
        ]
        more = f"and {len(self) - FIRST:,} more; to_pandas(), to_polars() and to_arrow() give all" if len(self) > FIRST else ""
        return html_table(f"{len(self):,} {'link' if len(self) == 1 else 'links'}", ("source", "target", "probability"), rows, more)


def _needed(package: str) -> Any:
    """A package that kgalign does not need itself."""
    try:
        return import_module(package)
    except ImportError as error:
        if error.name != package:
            raise
        raise OptionError(f"to_{package}() needs {package}: pip install {package}") from None
