"""A reader of graphs and a writer of links in one file. Both use JSON Lines, a graph has one entity a line:

{"id": "es", "name": "Spain", "borders": ["fr", "pt"], "area": 505990}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgalign import Alignment, AlignmentTask, Attributes, DataError, KnowledgeGraph

Place = str | Path | Sequence[str | Path]


class JsonLines:
    """Reads `.jsonl` files. The id of an entity as a value makes a triple, any other value a literal."""

    expects = "JSON Lines, one entity a line (*.jsonl)"

    def accepts(self, place: Place) -> bool:
        return isinstance(place, str | Path) and str(place).endswith(".jsonl")

    def read(self, place: Place, *, strict: bool = False) -> KnowledgeGraph:
        entities = list(read_lines(Path(str(place))))
        ids = {entity["id"]: number for number, entity in enumerate(entities)}
        relations: dict[str, int] = {}
        properties: dict[str, int] = {}
        triples, facts, values = [], [], []
        for head, key, value in facts_of(entities):
            if isinstance(value, str) and value in ids:
                triples.append((head, relations.setdefault(key, len(relations)), ids[value]))
            else:
                facts.append((head, properties.setdefault(key, len(properties))))
                values.append(str(value))
        return KnowledgeGraph(
            entities=list(ids),
            relations=list(relations),
            triples=np.array(triples).reshape(-1, 3),
            names=[entity.get("name", entity["id"]) for entity in entities],
            attributes=Attributes(list(properties), np.array(facts).reshape(-1, 2), values),
        )


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The entity of each line. What is wrong is refused with path, line, and what was expected."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                entity = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(f"{path}:{number}: expected a line of JSON, but {error}") from None
            if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
                raise DataError(f'{path}:{number}: expected an object with an "id", found {line.strip()[:50]}')
            yield entity


def facts_of(entities: list[dict[str, Any]]) -> Iterator[tuple[int, str, Any]]:
    """Number of the entity, key and value of each fact; a list has one fact for each item."""
    for number, entity in enumerate(entities):
        for key, value in entity.items():
            if key not in ("id", "name"):
                yield from ((number, key, item) for item in (value if isinstance(value, list) else [value]))


def write(alignment: Alignment, task: AlignmentTask, path: Path) -> None:
    """Writes a line for each link: source, target, probability."""
    with path.open("w", encoding="utf-8") as file:
        for (source, target), probability in zip(alignment.pairs, alignment.scores, strict=True):
            names = task.source.entities[source], task.target.entities[target]
            print(json.dumps([*names, float(probability)]), file=file)


reader = JsonLines()
