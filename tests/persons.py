"""Generated persons with several records each, with typing errors and with relatives: where sums of probabilities can be checked."""

import random

import numpy as np

from kgalign import Alignment, AlignmentTask, Attributes, KnowledgeGraph

GIVEN = (
    "Anna",
    "Ben",
    "Carl",
    "Dora",
    "Emil",
    "Fay",
    "Gus",
    "Hana",
    "Ian",
    "Jill",
    "Karl",
    "Lena",
    "Mara",
    "Nils",
    "Olga",
    "Paul",
    "Rosa",
)
STARTS = ("Al", "Ber", "Car", "Den", "Er", "Far", "Gol", "Han", "Is", "Jor", "Kel", "Lam")
ENDS = ("ton", "berg", "sen", "ova", "man", "well", "ling", "dorf")
PROPERTIES = ("born", "phone", "street")


def make_persons(records, *, persons=120, alone=60, errors=0.1, seed=0, cardinality="one-to-one"):
    """A task and its gold links.

    Args:
        records: The fewest and the most records of a person, for the source and for the target.
        persons: Persons that both graphs may have.
        alone: Persons that only the source may have, and as many that only the target may have.
        errors: How often a value has a typing error.
        seed: Draws everything.
        cardinality: That of the task.
    """
    draw = random.Random(seed)
    people = []
    for _ in range(persons + 2 * alone):
        people.append(_person(draw, draw.choice(people) if people and draw.random() < 0.3 else None))
    sides, owners = ([], []), ([], [])
    for number, person in enumerate(people):
        for side, (least, most) in enumerate(records):
            if number < persons or (number < persons + alone) == (side == 0):
                for _ in range(draw.randint(least, most)):
                    sides[side].append(_record(draw, person, errors))
                    owners[side].append(number)
    source, target = (_graph(side, rows) for side, rows in zip("st", sides, strict=True))
    gold = [(one, other) for one, own in enumerate(owners[0]) for other, of in enumerate(owners[1]) if own == of]
    task = AlignmentTask(source, target, Alignment.empty(), range(len(sides[0])), range(len(sides[1])), cardinality=cardinality)
    return task, Alignment(gold)


def _person(draw, relative):
    surname = relative["surname"] if relative else draw.choice(STARTS) + draw.choice(ENDS)
    return {
        "given": draw.choice(GIVEN),
        "surname": surname,
        "born": f"19{draw.randrange(30, 99)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
        "phone": f"0{draw.randrange(10**8, 10**9)}",
        "street": relative["street"] if relative else f"{draw.choice(STARTS)}{draw.choice(ENDS)} Street {draw.randrange(1, 99)}",
    }


def _record(draw, person, errors):
    kept = {name: value for name, value in person.items() if draw.random() > errors / 2}
    return {name: _mistyped(draw, value) if draw.random() < errors else value for name, value in kept.items()}


def _mistyped(draw, text):
    at = draw.randrange(len(text) - 1)
    return draw.choice(
        [text[:at] + text[at + 1 :], text[:at] + text[at + 1] + text[at] + text[at + 2 :], text[:at] + "x" + text[at:]]
    )


def _graph(side, rows):
    names = [" ".join(row[name] for name in ("given", "surname") if name in row) for row in rows]
    facts = [(number, at, row[name]) for number, row in enumerate(rows) for at, name in enumerate(PROPERTIES) if name in row]
    properties = [f"http://{side}/{name}" for name in PROPERTIES]
    attributes = Attributes(properties, [fact[:2] for fact in facts], [fact[2] for fact in facts])
    iris = [f"http://{side}/{side}{number:05}" for number in range(len(rows))]
    return KnowledgeGraph(iris, [], np.empty((0, 3)), names, attributes)
