"""All names of two graphs side by side: two entities are compared by their best pair of names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numba
import numpy as np
import scipy  # which imports its parts when they are first used

from kgalign.data import PREFERRED, RANKS, Floats, Ints, KnowledgeGraph, Names
from kgalign.features.text import ngram_vectors
from kgalign.features.words import Words, weighted_words, word_numbers
from kgalign.language_tags import main_language
from kgalign.parallel import argsort, by_row, parts, taken, unique
from kgalign.search import Engine, Vectors, find_candidates, unique_pairs
from kgalign.search.kernels import clear, lay_out, product_with, sparse_product

OTHER_RANK = 0.8  # the weight of a name, where the entity has names of a better rank
ACROSS_LANGUAGES = 0.9  # the weight of names in two languages, where both graphs have names in one
ENOUGH_LANGUAGES = 3  # in common, so that names in two different ones are not compared
DIGIT = re.compile(r"\d")


@dataclass(frozen=True, eq=False)
class NameTable:
    """The names of one graph, entity by entity.

    Attributes:
        starts: (entities + 1,) where the names of each entity begin.
        owner: (n,) the entity of each name.
        weight: (n,) how much each name counts: names of the best rank that an entity has count for more than its others.
        language: (n,) the number of its language, -1: none.
    """

    starts: Ints
    owner: Ints
    weight: Floats
    language: Ints


@dataclass(frozen=True, eq=False)
class NamePair:
    """The names of two graphs, with the same numbers for the same languages.

    Attributes:
        across: The weight of a pair of names in two different languages.
    """

    source: NameTable
    target: NameTable
    across: float

    @classmethod
    def of(cls, source: Names, target: Names) -> NamePair:
        languages: dict[str, int] = {"": -1}
        tags = {
            tag: languages.setdefault(main_language(tag), len(languages) - 1)
            for side in (source, target)
            for tag in dict.fromkeys(side.language)
        }
        numbers = [np.array([tags[tag] for tag in side.language], np.int32) for side in (source, target)]
        common = np.intersect1d(numbers[0][numbers[0] >= 0], numbers[1][numbers[1] >= 0])
        tables = [_table(side, own) for side, own in zip((source, target), numbers, strict=True)]
        return cls(tables[0], tables[1], ACROSS_LANGUAGES if len(common) else 1.0)


@dataclass(frozen=True, eq=False)
class NameSimilarity:
    """Evidence from names: the inner product of the vectors of the best pair of names, weighted by rank and language.

    Attributes:
        names: Which entity bears which name.
        source: (n, d) sparse vectors of the names of the source, indices sorted.
        target: (m, d) those of the target.
    """

    names: NamePair
    source: Vectors
    target: Vectors

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) the similarity of the best names of each pair; 0 where one has none."""
        return self._best(sources, targets, are_wanted=False)[0]

    def best_names(self, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
        """(n,) the positions of the best pair of names of each pair of entities, -1: they have nothing in common."""
        _, left, right = self._best(sources, targets, are_wanted=True)
        return left, right

    def search(
        self,
        queries: Ints,
        pool: Ints,
        k: int,
        *,
        both_directions: bool,
        effort: int | None,
        seed: int,
        engine: Engine | None = None,
    ) -> tuple[Ints, Ints]:
        """The positions of queries and the targets whose names are among the k most similar to one of theirs."""
        names = self.names
        positions = np.full(len(names.source.starts) - 1, -1, np.int32)
        positions[queries] = np.arange(len(queries))
        in_pool = np.zeros(len(names.target.starts) - 1, bool)
        in_pool[pool] = True
        ours, theirs = np.flatnonzero(positions[names.source.owner] >= 0), np.flatnonzero(in_pool[names.target.owner])
        found = find_candidates(
            self.source, self.target, ours, theirs, k, both_directions=both_directions, effort=effort, seed=seed, engine=engine
        )
        at, slots = found.edges()
        rows = taken(positions[names.source.owner], found.queries[at])
        targets = taken(names.target.owner, found.targets[at, slots])
        chosen = _best_of_each(rows, targets, found.scores[at, slots], k, both_directions)
        return unique_pairs(taken(rows, chosen), taken(targets, chosen), len(queries))

    def _best(self, sources: Ints, targets: Ints, are_wanted: bool) -> tuple[Floats, Ints, Ints]:
        """The products, and if they are wanted, the positions of the names."""
        one, other = self.names.source, self.names.target
        return _best_products(
            sources, targets, one.starts, other.starts, one.weight, other.weight, one.language, other.language,
            np.float32(self.names.across), *self.arrays, self.source.shape[1], parts(len(sources)), are_wanted,
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[Ints, ...]:
        """The arrays of both sparse matrices, for compiled loops."""
        return tuple(array for side in (self.source, self.target) for array in (side.indptr, side.indices, side.data))


@dataclass(frozen=True, eq=False)
class OtherLanguages:
    """Evidence against a pair: languages in which both have names, but names that differ, though their best names are similar."""

    similarity: NameSimilarity

    def compare(self, sources: Ints, targets: Ints) -> Floats:
        """(n,) the mean similarity over the languages that both have names of the best rank in, less that of the best pair: 0 to -1."""
        one, other = self.similarity.names.source, self.similarity.names.target
        means = _language_means(
            sources,
            targets,
            one.starts,
            other.starts,
            one.weight,
            other.weight,
            one.language,
            other.language,
            *self.similarity.arrays,
        )
        best = self.similarity.compare(sources, targets)
        return np.where(means >= 0, np.minimum(means - best, 0), 0).astype(np.float32)


def other_languages(similarity: NameSimilarity) -> OtherLanguages | None:
    """The names of two graphs language by language; None where they have no language in common."""
    return OtherLanguages(similarity) if similarity.names.across < 1 else None


def words_of_names(source: KnowledgeGraph, target: KnowledgeGraph) -> Words:
    """The words of all names of two graphs, those of the source first."""
    return Words.of([*source.names.text, *target.names.text])


def ngram_similarity(source: KnowledgeGraph, target: KnowledgeGraph, words: Words | None = None) -> NameSimilarity:
    """Names compared by their character n-grams.

    Args:
        source: The source graph.
        target: The target graph.
        words: Those of all names, if they are known.
    """
    vectors = ngram_vectors(source.names.text, target.names.text, words=words)
    return NameSimilarity(NamePair.of(source.names, target.names), *vectors)


def word_similarity(source: KnowledgeGraph, target: KnowledgeGraph, words: Words | None = None) -> NameSimilarity:
    """Names compared by their words in any order, rare words first; plurals and simple inflections count as the same word.

    For the arguments see `ngram_similarity`.
    """
    vectors = weighted_words((words or words_of_names(source, target)).stems)
    first = len(source.names.text)
    return NameSimilarity(NamePair.of(source.names, target.names), vectors[:first], vectors[first:])


def equal_names(
    source: KnowledgeGraph, target: KnowledgeGraph, shared_count: tuple[bool, bool] = (True, True), words: Words | None = None
) -> NameSimilarity:
    """Names compared for equality: 1 where one entity of either graph has the name, less where several share it.

    The words may be in any order, with or without blanks between them.

    A preferred name is shared with the entities that prefer it too, an alternative one with all that have it.

    Args:
        source: The source graph.
        target: The target graph.
        shared_count: Whether it matters that entities of the source share a name, and whether it does for the target: not where one entity
            of the other graph may be linked to all of them.
        words: Those of all names, if they are known.
    """
    sides = [graph.names for graph in (source, target)]
    vectors = []
    columns = np.split(_name_numbers(words or words_of_names(source, target)), [len(sides[0].text)])
    count = max((int(own.max(initial=0)) for own in columns), default=0) + 1
    for side, own, counts in zip(sides, columns, shared_count, strict=True):
        is_preferred = side.rank == PREFERRED
        prefer, bear = (_bearers(own[some], side.owner[some], count) for some in (is_preferred, slice(None)))
        often = np.where(is_preferred, prefer[own], bear[own]) if counts else np.ones(len(own), np.int64)
        entries = np.sqrt(1 / np.maximum(often, 1)).astype(np.float32), (np.arange(len(own)), own)
        vector = scipy.sparse.csr_array(entries, shape=(len(own), count))
        vector.data[own == 0] = 0
        vectors.append(vector)
    return NameSimilarity(NamePair.of(*sides), *vectors)


def _name_numbers(words: Words) -> Ints:
    """(n,) the same number for equal names; 0 for a name without words.

    Words may be in any order, except numbers: "section 1.2" is not "section 2.1". Names without a digit may have blanks or none: "wave number"
    is "wavenumber".
    """
    stems = words.stems
    ordered, has_digit = _ordered(stems)
    numbers = ordered.numbers()
    plain = np.flatnonzero(~has_digit)
    single = plain[np.diff(stems.starts)[plain] == 1]
    ends = stems.ids[stems.starts[single]]
    _, letters = unique(np.concatenate([words.letter_numbers()[plain], word_numbers(stems.different)[ends]]))
    rows = numbers[np.concatenate([plain, single])]
    count = int(numbers.max(initial=-1)) + 1
    shape = (count + int(letters.max(initial=-1)) + 1,) * 2
    graph = scipy.sparse.coo_array((np.ones(len(rows), np.int8), (rows, count + letters)), shape=shape)
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return np.where(np.diff(stems.starts) > 0, labels[numbers] + 1, 0).astype(np.int64)


def _ordered(stems: Words) -> tuple[Words, Ints]:
    """The stems of each name in one order, those with a digit as they come behind the others; and (n,) whether a name has a digit."""
    digits = np.fromiter((DIGIT.search(each) is not None for each in stems.different), bool, len(stems.different))
    width = len(stems.different) + int(np.diff(stems.starts).max(initial=0)) + 1
    rows = stems.rows
    keys = np.where(digits[stems.ids], len(stems.different) + np.arange(len(rows)) - stems.starts[rows], stems.ids)
    has_digit = np.zeros(len(stems), bool)
    has_digit[rows[digits[stems.ids]]] = True
    return replace(stems, ids=stems.ids[argsort(rows * width + keys)] if len(rows) else stems.ids), has_digit


def _best_of_each(rows: Ints, targets: Ints, scores: Floats, k: int, both_directions: bool) -> Ints:
    """The positions of pairs that are among the k best of their row, or of their target; a pair that several names give counts once."""
    once = _first_of_each_pair(*by_row(rows, int(rows.max(initial=-1)) + 1), targets, scores)
    is_chosen = np.zeros(len(once), bool)
    for ids in (rows[once], targets[once]) if both_directions else (rows[once],):
        is_chosen |= _is_among_best(*by_row(ids, int(ids.max(initial=-1)) + 1), scores[once], k)
    return once[is_chosen]


def _bearers(keys: Ints, owners: Ints, count: int) -> Ints:
    """(count,) how many different entities have each key."""
    if not len(keys):
        return np.zeros(count, np.int64)
    width = int(owners.max()) + 1
    return np.bincount(unique(keys * width + owners)[0] // width, minlength=count)


def _table(names: Names, languages: Ints) -> NameTable:
    best = np.full(len(names), len(RANKS), np.int8)
    np.minimum.at(best, names.owner, names.rank)
    weight = np.where(names.rank == best[names.owner], 1, OTHER_RANK).astype(np.float32)
    return NameTable(np.searchsorted(names.owner, np.arange(len(names) + 1)), names.owner, weight, languages)


def _first_of_each_pair(order: Ints, starts: Ints, targets: Ints, scores: Floats) -> Ints:
    """The position of each pair, ordered by row and target; of equal pairs that with the highest score, and of these the first."""
    kept = _best_of_equal(order, starts, targets, scores)
    return order[kept]


@numba.njit(parallel=True, cache=True)
def _best_of_equal(order, starts, targets, scores):  # type: ignore[no-untyped-def]
    """Sorts each row of the order by target and score; which places have a target for the first time."""
    kept = np.zeros(len(order), np.bool_)
    for row in numba.prange(len(starts) - 1):
        first, last = starts[row], starts[row + 1]
        members = order[first:last]
        members = members[np.argsort(-scores[members], kind="mergesort")]
        members = members[np.argsort(targets[members], kind="mergesort")]
        for at in range(len(members)):
            order[first + at] = members[at]
            kept[first + at] = at == 0 or targets[members[at]] != targets[members[at - 1]]
    return kept


@numba.njit(parallel=True, cache=True)
def _is_among_best(order, starts, scores, k):  # type: ignore[no-untyped-def]
    """Whether each is among the k best of its row; of equal ones the first."""
    found = np.zeros(len(order), np.bool_)
    for row in numba.prange(len(starts) - 1):
        members = order[starts[row] : starts[row + 1]]
        if len(members) <= k:
            for at in members:
                found[at] = True
        else:
            best = np.argsort(-scores[members], kind="mergesort")
            for at in best[:k]:
                found[members[at]] = True
    return found


@numba.njit(cache=True)
def _common_languages(languages, other_languages):  # type: ignore[no-untyped-def]
    """How many languages both have, up to the number that is enough."""
    count = 0
    for one in range(len(languages)):
        is_new = languages[one] >= 0
        for earlier in range(one):
            is_new &= languages[earlier] != languages[one]
        if is_new:
            for two in range(len(other_languages)):
                if other_languages[two] == languages[one]:
                    count += 1
                    break
        if count >= ENOUGH_LANGUAGES:
            break
    return count


@numba.njit(parallel=True, cache=True)
def _language_means(  # type: ignore[no-untyped-def]
    sources, targets, starts, other_starts, weights, other_weights, languages, other_languages,
    indptr, indices, data, other_indptr, other_indices, other_data,
):  # fmt: skip
    """The mean, over the languages that both have names of the best rank in, of the best product in each; -1 where there is none."""
    means = np.full(len(sources), -1, np.float32)
    for number in numba.prange(len(sources)):
        source, target = sources[number], targets[number]
        first, last = starts[source], starts[source + 1]
        total, count = 0.0, 0
        for one in range(first, last):
            language = languages[one]
            is_common = False
            for two in range(other_starts[target], other_starts[target + 1]):
                is_common |= language >= 0 and weights[one] == 1 and other_languages[two] == language and other_weights[two] == 1
            for earlier in range(first, one):
                is_common &= languages[earlier] != language or weights[earlier] < 1
            if not is_common:
                continue
            best = 0.0
            for same in range(first, last):
                if languages[same] == language:
                    for two in range(other_starts[target], other_starts[target + 1]):
                        if other_languages[two] == language:
                            best = max(
                                best, sparse_product(same, two, indptr, indices, data, other_indptr, other_indices, other_data)
                            )
            total += best
            count += 1
        if count:
            means[number] = total / count
    return means


@numba.njit(parallel=True, cache=True)
def _best_products(  # type: ignore[no-untyped-def]
    sources, targets, starts, other_starts, weights, other_weights, languages, other_languages, across,
    indptr, indices, data, other_indptr, other_indices, other_data, width, parts, are_wanted,
):  # fmt: skip
    """The largest weighted product over all pairs of names of each pair of entities, and the two names.

    Pairs with the same source one after the other share what is laid out for its names.
    """
    best = np.zeros(len(sources), np.float32)
    left = np.full(len(sources) * are_wanted, -1, np.int64)
    right = np.full(len(sources) * are_wanted, -1, np.int64)
    size = -(-len(sources) // parts)
    for part in numba.prange(parts):
        laid_out = np.zeros(width, np.float32)
        at, end = part * size, min(len(sources), (part + 1) * size)
        while at < end:
            source, begin = sources[at], at
            while at < end and sources[at] == source:
                at += 1
            for one in range(starts[source], starts[source + 1]):
                lay_out(laid_out, one, indptr, indices, data)
                for number in range(begin, at):
                    first, last = other_starts[targets[number]], other_starts[targets[number] + 1]
                    for two in range(first, last):
                        weight = weights[one] * other_weights[two]
                        if languages[one] != other_languages[two] and languages[one] >= 0 and other_languages[two] >= 0:
                            own = languages[starts[source] : starts[source + 1]]
                            if _common_languages(own, other_languages[first:last]) >= ENOUGH_LANGUAGES:
                                continue
                            weight *= across
                        value = np.float32(weight * product_with(laid_out, two, other_indptr, other_indices, other_data))
                        if value > best[number]:
                            best[number] = value
                            if are_wanted:
                                left[number] = one
                                right[number] = two
                clear(laid_out, one, indptr, indices)
    return best, left, right
