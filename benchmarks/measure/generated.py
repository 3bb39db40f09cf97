"""Two generated graphs of any size that resemble DBP15K: two views of one hidden world, and the links between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kgalign import Alignment, AlignmentTask, KnowledgeGraph
from kgalign.data import Floats, Ints
from kgalign.readers import make_task

SHARED, OVERSIZE = 0.79, 1.12  # shares of a view's entities: those in both views; all, before the few without a fact are left out
SEED_RATIO = 0.3
KEPT, EVENNESS = (0.46, 0.6), 0.5  # shares of the facts in each view; some entities keep all of their facts, others hardly any
OUT_MEDIAN, OUT_SPREAD, OUT_ALONE = 17.0, 0.6, 0.08  # facts of an entity; entities of one view only have fewer
REPEATED = 0.25  # the share of facts with the same relation as the fact before
SPLIT, MERGED = 0.15, 0.15  # shares of the relations in the target view
WORD_COUNTS = (0.12, 0.42, 0.27, 0.19)  # shares of names with 1, 2, 3 and 4 words
SAME_NAME, OTHER_NAME = 0.27, 0.08  # shares of the names in the source view; the others are changed word by word:
SAME_WORD, NEAR_WORD, FAR_WORD, OTHER_WORD = 0.47, 0.18, 0.16, 0.12  # shares of words; the remaining ones are dropped
ONSETS = [*"bcdfghjklmnprstvwz", "br", "ch", "cl", "dr", "gr", "kr", "ph", "sh", "st", "th", "tr", ""]
VOWELS = [*"aeiou", "ai", "ee", "ia", "ou"]
CODAS = ["", "", "", "", "", "", *"lmnrst", "ng"]
ALIKE = str.maketrans("aeioubcdfgklmnprstvwz", "eaeuovkttvcrnmblzdbvs")


def generate(entities: int, seed: int = 0) -> tuple[AlignmentTask, Alignment]:
    """An open task, and its gold links; 30 % of all links are seeds.

    The world has classes and communities of entities, and some entities are popular. A relation leads from one class to another, more or
    less within a community and more or less to popular entities; some relations have one value only. Each view has a part of the entities
    and facts, with relations and ids of its own. The target view has the names of the world, the source view a poor translation of them.

    `python -m benchmarks.measure.likeness` compares the result with DBP15K: degrees, relations, names, facts in both views.

    The constants were tuned by hand, with one seed, to those figures and to the difficulty of names alone and of the graph alone. The
    graph alone is still easier here than in DBP15K. Whether an entity is ever a head still hints at a counterpart, but far less than in
    DBP15K. So these graphs measure time and memory; figures of quality do not compare with those on DBP15K.

    Args:
        entities: About how many entities each graph has.
        seed: Draws the graphs.
    """
    random = np.random.default_rng(seed)
    seen = _views(round(OVERSIZE * entities), random)
    facts, groups = _facts(seen[0] & seen[1], random)
    kept = [_part(facts, share, there, random) for share, there in zip(KEPT, seen, strict=True)]
    kept[1] = _other_relations(kept[1], random)
    names = _names(groups, random)
    numbers, graphs = [], []
    for side, (letter, triples) in enumerate(zip("st", kept, strict=True)):
        members = random.permutation(np.unique(triples[:, [0, 2]]))
        number = np.full(seen.shape[1], -1)
        number[members] = np.arange(len(members))
        used, relations = np.unique(triples[:, 1], return_inverse=True)
        relations = random.permutation(len(used))[relations]
        graphs.append(
            KnowledgeGraph(
                [f"{letter}{entity}" for entity in range(len(members))],
                [f"{letter}r{relation}" for relation in range(len(used))],
                np.column_stack([number[triples[:, 0]], relations, number[triples[:, 2]]])[random.permutation(len(triples))],
                [names[side][member] for member in members.tolist()],
            )
        )
        numbers.append(number)
    links = np.column_stack(numbers)
    links = random.permutation(links[(links >= 0).all(axis=1)])
    count = round(SEED_RATIO * len(links))
    return make_task(graphs[0], graphs[1], Alignment(links[:count]), Alignment(links[count:]), "open")


def _views(size: int, random: np.random.Generator) -> Ints:
    """(2, n) which entities of the world each view may have, `size` in each."""
    alone = round((1 - SHARED) * size)
    seen = np.ones((2, size + alone), bool)
    seen[0, :alone] = seen[1, size:] = False
    return seen[:, random.permutation(size + alone)]


def _facts(shared: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """(f, 3) head, relation and tail of all facts of the world, and the (n, 2) class and community of each entity."""
    size = len(shared)
    classes, communities = max(5, round(40 * (size / 20_000) ** 0.2)), max(2, size // 80)
    share = _zipf(classes, 0.9, 1)
    class_of = random.choice(classes, size, p=share)
    community_of = random.choice(communities, size, p=_zipf(communities, 0.6, 5))
    rank = random.random(size) * np.where(shared, 1, 4)
    everywhere, nearby = np.lexsort((rank, class_of)), np.lexsort((rank, community_of, class_of))
    segments = class_of * communities + community_of
    class_sizes, segment_sizes = np.bincount(class_of, minlength=classes), np.bincount(segments, minlength=classes * communities)
    class_starts, segment_starts = np.cumsum(class_sizes) - class_sizes, np.cumsum(segment_sizes) - segment_sizes

    weights, domains = _schema(share, max(20, round(1500 * (size / 20_000) ** 0.3)), random)
    count = len(weights)
    ranges = random.choice(classes, count, p=_zipf(classes, 0.7, 1))
    steepness, local, functional = random.uniform(2.5, 9.5, count), random.uniform(0.2, 1, count), random.random(count) < 0.3
    upper = np.cumsum(weights)
    edges = np.searchsorted(domains, np.arange(classes + 1))
    bounds = np.concatenate([[0], upper])[edges]

    out = random.poisson(OUT_MEDIAN * np.exp(OUT_SPREAD * random.normal(size=size)) * np.where(shared, 1, OUT_ALONE))
    heads = np.repeat(np.arange(size), out)
    low, high = bounds[class_of[heads]], bounds[class_of[heads] + 1]
    relations = np.searchsorted(upper, low + (high - low) * random.random(len(heads)), side="right")
    relations = np.minimum(relations, edges[class_of[heads] + 1] - 1)
    relations = _repeated(relations, heads, random)
    near = ranges[relations] * communities + community_of[heads]
    is_local = (random.random(len(heads)) < local[relations]) & (segment_sizes[near] > 0)
    sizes = np.where(is_local, segment_sizes[near], class_sizes[ranges[relations]])
    position = (sizes * random.random(len(heads)) ** steepness[relations]).astype(np.int64)
    last = size - 1  # a class without members has no tail to choose
    tails = np.where(
        is_local,
        nearby[np.minimum(segment_starts[near] + position, last)],
        everywhere[np.minimum(class_starts[ranges[relations]] + position, last)],
    )
    facts = np.column_stack([heads, relations, tails])[(heads != tails) & (sizes > 0)]
    # An entity keeps only its first fact of a functional relation.
    keys = np.where(functional[facts[:, 1]], 0, facts[:, 2] + 1) + (size + 1) * (facts[:, 0] * count + facts[:, 1])
    _, first = np.unique(keys, return_index=True)
    return facts[first], np.column_stack([class_of, community_of])


def _part(facts: Ints, share: float, there: Ints, random: np.random.Generator) -> Ints:
    """The facts of a view: about that share of the facts between entities that it may have."""
    known = random.beta(EVENNESS * share, EVENNESS * (1 - share), len(there))  # the share of each entity's own facts
    return facts[(random.random(len(facts)) < known[facts[:, 0]]) & there[facts[:, [0, 2]]].all(axis=1)]


def _repeated(relations: Ints, heads: Ints, random: np.random.Generator) -> Ints:
    """The same relations, but some facts have the relation of the fact before, if that fact has the same head."""
    fresh = random.random(len(heads)) >= REPEATED
    fresh[:1] = True
    fresh[1:] |= heads[1:] != heads[:-1]
    return relations[np.maximum.accumulate(np.where(fresh, np.arange(len(heads)), 0))]


def _schema(share: Floats, count: int, random: np.random.Generator) -> tuple[Floats, Ints]:
    """The weight of each relation and the class of its heads, ascending; a class with more entities gets more relations."""
    weights = _zipf(count, 1.65, 9)
    missing, domains = share.copy(), np.empty(count, np.int64)
    for relation, weight in enumerate(weights):
        domains[relation] = missing.argmax()
        missing[domains[relation]] -= weight
    order = np.lexsort((random.random(count), domains))
    return weights[order], domains[order]


def _other_relations(triples: Ints, random: np.random.Generator) -> Ints:
    """The same facts with some relations split in two and some merged with another one."""
    count = int(triples[:, 1].max(initial=0)) + 1
    chance, other = random.random(count), random.permutation(count)
    relations = triples[:, 1]
    half = random.random(int(triples.max(initial=0)) + 1) < 0.5  # an entity's facts stay together
    split = (chance[relations] < SPLIT) & half[triples[:, 0]]
    merged = (chance > 1 - MERGED)[relations]
    relations = np.where(split, relations + count, np.where(merged, other[relations], relations))
    return np.unique(np.column_stack([triples[:, 0], relations, triples[:, 2]]), axis=0)


def _names(groups: Ints, random: np.random.Generator) -> tuple[list[str], list[str]]:
    """The names of all entities of the world, in the source view and in the target view."""
    size = len(groups)
    vocabulary = list(_vocabulary(round(60_000 * (size / 20_000) ** 0.75), random))
    count = len(vocabulary)
    commonness = np.cumsum(_zipf(count, 0.93, 1))

    def draw(shape: tuple[int, ...]) -> Ints:
        return np.minimum(np.searchsorted(commonness, random.random(shape)), count - 1)

    class_words = random.integers(0, min(count, 2000), (int(groups[:, 0].max()) + 1, 12))
    place_words = random.integers(min(count // 2, 500), count, (int(groups[:, 1].max()) + 1, 8))
    words = draw((size, 5))
    kind = random.random((size, 5))
    picks = (random.random((size, 5)) ** 2 * 8).astype(np.int64)
    words = np.where(kind < 0.1, class_words[groups[:, :1], picks], words)
    words = np.where(kind > 0.9, place_words[groups[:, 1:], picks], words)
    lengths = random.choice(np.arange(1, 5), size, p=WORD_COUNTS)
    words[np.arange(5) >= lengths[:, None]] = -1
    words = _made_unique(words, draw((size,)))

    # Each word has three forms: itself, a slightly different spelling, a very different one. It also has one random synonym.
    near = _respelt(vocabulary, 1, random)
    forms = [*vocabulary, *near, *_respelt(near, 2, random)]
    synonyms = random.permutation(count)
    chance = random.random(words.shape)
    steps = np.cumsum([SAME_WORD, NEAR_WORD, FAR_WORD, OTHER_WORD])
    changed = np.select(
        [chance < steps[0], chance < steps[1], chance < steps[2], chance < steps[3]],
        [words, words + count, words + 2 * count, synonyms[words]],
        -1,
    )
    changed = np.where(words >= 0, changed, -1)
    fate = random.random(size)
    changed = np.where(fate[:, None] < SAME_NAME, words, changed)
    elsewhere = np.where(np.arange(5) < lengths[:, None], draw((size, 5)), -1)
    lost = (fate > 1 - OTHER_NAME) | (changed < 0).all(axis=1)
    changed = np.where(lost[:, None], elsewhere, changed)
    return list(_joined(changed, forms)), list(_joined(words, forms))


def _made_unique(words: Ints, extra: Ints) -> Ints:
    """The same names, but a name that an earlier entity has gets one more word, as in an encyclopedia."""
    mixed = (words + 1) @ np.array([1, 1_000_003, 10_000_019, 100_000_007, 1_000_000_007])
    _, first = np.unique(mixed, return_index=True)
    again = np.ones(len(words), bool)
    again[first] = False
    words = words.copy()
    words[again, 4] = extra[again]
    return words


def _vocabulary(count: int, random: np.random.Generator) -> dict[str, None]:
    """About that many different pronounceable words, most common first; common words are shorter."""
    syllables = [onset + vowel + coda for onset in ONSETS for vowel in VOWELS for coda in CODAS]
    order = random.permutation(len(syllables))
    syllables = [syllables[at] for at in order]
    drawn = np.searchsorted(np.cumsum(_zipf(len(syllables), 0.7, 10)), random.random((count, 3)))
    drawn = np.minimum(drawn, len(syllables) - 1)
    lengths = 1 + (random.random(count) < np.linspace(0.4, 1, count)) + (random.random(count) < np.linspace(0, 0.15, count))
    return dict.fromkeys(
        "".join([syllables[part] for part in parts[:length]])
        for parts, length in zip(drawn.tolist(), lengths.tolist(), strict=True)
    )


def _respelt(words: list[str], edits: int, random: np.random.Generator) -> list[str]:
    """Each word with letters changed into similar ones, left out or doubled."""
    places, kinds = random.random((2, edits, len(words)))
    for place, kind in zip(places.tolist(), kinds.tolist(), strict=True):
        words = [_edited(*edit) for edit in zip(words, place, kind, strict=True)]
    return words


def _edited(word: str, place: float, kind: float) -> str:
    at = int(place * len(word))
    letter = word[at]
    if kind < 0.5:
        letter = letter.translate(ALIKE)
    elif kind < 0.7 and len(word) > 3:
        letter = ""
    elif kind < 0.85:
        letter += letter
    else:
        letter += "aeiou"[at % 5]
    return word[:at] + letter + word[at + 1 :]


def _joined(words: Ints, forms: list[str]) -> Iterator[str]:
    for row in words.tolist():
        yield " ".join([forms[word] for word in row if word >= 0])


def _zipf(count: int, exponent: float, shift: float) -> Floats:
    """(count,) probabilities that fall with the rank (Zipf and Mandelbrot)."""
    weights = (np.arange(1, count + 1) + shift) ** -exponent
    return weights / weights.sum()
