"""Views of the analyzer as finite laws, and the true delta that follows from them.

A *view* is defined once per family of protocols, from the definition of its messages: the messages of one user with
their probabilities, and further messages. A view uses the calibrated parameters but no accounting. A view also counts
shuffled messages as its laws do, for the tests of `shuffledp.pipeline.audit.message_tests`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.audit.finite_laws import (
    Block,
    Bounds,
    Own,
    PairNoise,
    Place,
    TooLargeError,
    averaged,
    hockey_stick,
    largest,
    mixed,
    move_law,
    outcomes,
    plus,
    point,
)
from shuffledp.populations.base import Law
from shuffledp.tasks import Users

#: Function from messages to their kinds.
Kinds = Callable[[NDArray[Any]], NDArray[np.int64]]
#: Inputs of all users as indices in `View.inputs`, user 1 first.
Held = tuple[int, ...]

#: Probability below which a number of users is omitted.
_NEGLIGIBLE = 1e-14
#: Largest number of cells of the laws of all users' counts for one number of users.
_WORK = 40_000_000
#: Largest number of cells of cached laws.
_KEPT = 40_000_000


@dataclass(frozen=True)
class ViewCase:
    """Pair of inputs of user 1, with the claimed eps, and the possible inputs of the other users."""

    eps: float
    first: int
    second: int
    others: tuple[Held, ...]


@dataclass(frozen=True, eq=False)
class View(ABC):
    """View of the analyzer of a calibrated protocol, for the claimed `eps`.

    `inputs` are the possible inputs of a user, as rows of ``Users.values``, or pairs of level and value if
    `with_levels`. `note` describes an omission that makes the found delta a lower bound. `most` is the largest
    enumerated number of users. With `alone` the shuffler is not trusted, and the view has the messages of one user
    only. `listed` returns the cases for n users, by default all pairs of inputs with all inputs of the others. `pairs`
    has the compared pairs, in both directions; other pairs follow by symmetry. With `shifts` inputs shift the counts by
    fixed numbers, so that the inputs of the others do not matter. `by_number` returns the view for a given number of
    users, and `kinds` the kind of every message, by default the message itself.
    """

    inputs: tuple[Any, ...]
    eps: float
    note: str = ""
    most: int = 7
    alone: bool = False
    with_levels: bool = False
    listed: Callable[[int], Iterator[ViewCase]] | None = None
    pairs: tuple[tuple[int, int], ...] | None = None
    shifts: bool = False
    by_number: Callable[[int], View] | None = None
    kinds: Kinds = lambda payload: np.asarray(payload, np.int64)

    @abstractmethod
    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return the laws of the independent parts of the view for users with these inputs."""

    @abstractmethod
    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the counts of each part in one run's shuffled messages."""

    def letters(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return the kind of every message, for the test of the shuffler."""
        return self.kinds(payload)

    def users(self, inputs: Held) -> Users:
        """Return users with these inputs, for the protocol's encoder."""
        chosen = [self.inputs[h] for h in inputs]
        if not self.with_levels:
            return Users(np.array(chosen))
        return Users(np.array([value for _, value in chosen]), np.array([level for level, _ in chosen]))

    def crowds(self, n: int) -> tuple[Held, ...]:
        """Return the possible inputs of the n - 1 other users; only one choice if these inputs do not matter."""
        choices = combinations_with_replacement(range(len(self.inputs)), n - 1)
        return (next(choices),) if self.shifts else tuple(choices)

    def cases(self, n: int) -> Iterator[ViewCase]:
        """Yield all pairs of inputs, each with all possible inputs of the other users, for n participants."""
        if self.listed is not None:
            yield from self.listed(n)
            return
        others = self.crowds(n)
        for a, b in self.pairs or combinations(range(len(self.inputs)), 2):
            yield ViewCase(self.eps, a, b, others)
            yield ViewCase(self.eps, b, a, others)

    def numbers(self, law: Law) -> list[tuple[int, float]]:
        """Return the enumerated numbers of users with their probabilities; the view includes the number."""
        if self.alone:
            return [(1, 1.0)]
        window = law.window()
        chances = zip((window.support + 1).tolist(), window.pmf.tolist(), strict=True)
        return [(n, w) for n, w in chances if n <= self.most and w > _NEGLIGIBLE]

    def among(self, n: int) -> View:
        """Return the view for n participants."""
        return self if self.by_number is None else self.by_number(n)

    def of_participants(self) -> View:
        """Return the view of users who take part with certainty; it differs only if user 1's participation protects."""
        return self

    def divergence(self, case: ViewCase, others: Held) -> Bounds:
        """Return the hockey-stick divergence between the view's laws under the case's two inputs."""
        first, second = self.blocks((case.first, *others)), self.blocks((case.second, *others))
        pairs = [outcomes(a, b) for a, b in zip(first, second, strict=True) if a is not b]
        return hockey_stick(pairs, case.eps)


@dataclass(frozen=True)
class WorstDelta:
    """Largest delta found, with both inputs of user 1, the others' inputs, and the mass of the enumerated numbers."""

    bounds: Bounds
    first: Any
    second: Any
    others: tuple[Any, ...]
    users: float


def true_delta(view: View, law: Law) -> list[tuple[float, WorstDelta]]:
    """Return, per privacy level, the claimed eps and the largest delta of a view, averaged over the number of users.

    `law` is the law of the number of other users. Numbers beyond `View.most` contribute 0, so that the result is a
    lower bound. The neighboring relation is replacement of user 1's input among the same participants, whose number the
    analyzer sees. For each number the others have the worst inputs, as inputs and participation may be dependent. The
    pair of inputs and the direction are the same for all numbers.
    """
    numbers = view.numbers(law)
    if not numbers:
        raise TooLargeError(f"{law.mean + 1:g} users are expected, and at most {view.most} are enumerated")
    total: dict[tuple[float, int, int], list[tuple[float, Bounds]]] = {}
    worst: dict[tuple[float, int, int], Held] = {}
    for n, weight in numbers:
        try:
            among = view.among(n)
        except (
            Infeasible
        ):  # a round that is called off once the number of users is announced: nothing is sent
            continue
        for case in among.cases(n):
            key = (case.eps, case.first, case.second)
            divergences = [(among.divergence(case, others), others) for others in case.others]
            total.setdefault(key, []).append((weight, largest(bounds for bounds, _ in divergences)))
            worst[key] = max(divergences, key=lambda pair: pair[0].low)[1]
    mass = sum(weight for _, weight in numbers)
    worst_deltas = []
    for eps in sorted({key[0] for key in total}):
        bounds = {k: averaged(parts) for k, parts in total.items() if k[0] == eps}
        key = max(bounds, key=lambda k: bounds[k].low)
        named = tuple(view.inputs[i] for i in worst[key])
        first, second = (view.inputs[i] for i in key[1:])
        worst_deltas.append((eps, WorstDelta(largest(bounds.values()), first, second, named, mass)))
    return worst_deltas


# -- sums of what each user adds -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SumView(View):
    """View of one vector of counts: noise plus each user's messages, whose law depends on the input.

    `own` has the law of a user's messages for each input, and `noise` the law of the messages of n users that do not
    depend on inputs. `kinds` returns the kind of every message, 0..`axes`; the number of kind `axes` follows from the
    other counts.
    """

    own: tuple[Own, ...] = ()
    noise: Callable[[int], Block] | None = None
    _known: dict[int, dict[Held, Block]] = field(default_factory=dict)

    @property
    def axes(self) -> int:
        """Number of counts."""
        return len(next(iter(self.own[0])))

    def law(self, inputs: Held) -> Block:
        """Return the law of the counts; `inputs` must be sorted."""
        return self._made(inputs, len(inputs))

    def _made(self, inputs: Held, n: int) -> Block:
        """Return the law of the counts for the users `inputs` out of n, with the noise of all n users."""
        if n not in self._known:
            self._known.clear()  # laws for another number of users are as large, and their turn is over
            self._known[n] = {}
        laws = self._known[n]
        if inputs not in laws:
            block = (
                self._more(self._made(inputs[:-1], n), self.own[inputs[-1]]) if inputs else self.nothing(n)
            )
            if sum(law.mass.size for law in laws.values()) > _KEPT:
                laws.clear()
            laws[inputs] = block
        return laws[inputs]

    def _more(self, block: Block, law: Own) -> Block:
        return plus(block, law)

    def nothing(self, n: int) -> Block:
        """Return the law of the noise without users."""
        return point(self.axes) if self.noise is None else self.noise(n)

    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return the joint law of all counts."""
        return (self.law(tuple(sorted(inputs))),)

    def crowds(self, n: int) -> tuple[Held, ...]:
        """Return the possible inputs of the other users; only equal inputs if there are too many."""
        choices = super().crowds(n)
        if self._made((), n).mass.size * len(choices) * len(self.inputs) <= _WORK:
            return choices
        return tuple((i,) * (n - 1) for i in range(len(self.inputs)))

    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the number of messages of each counted kind."""
        counts = np.bincount(self.kinds(payload), minlength=self.axes + 1)
        return [tuple(counts[: self.axes].tolist())]


# -- independent counts --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProductView(View):
    """View of independent parts, each a vector of counts with noise and every user's messages.

    `noise` returns the laws of the parts' noise for n users, and `own` has the law of a user's messages for each input
    and part. `banded` has the parts with two counts and common noise, where inputs shift the counts by fixed numbers.
    `counts` returns the counts of all parts, and `kinds` the kind of every message.
    """

    noise: Callable[[int], tuple[Block, ...]] = lambda n: ()
    own: tuple[tuple[Own, ...], ...] = ()
    banded: Mapping[int, PairNoise] = field(default_factory=dict)
    counts: Callable[[NDArray[Any]], list[Place]] = lambda payload: []
    _noises: dict[int, tuple[Block, ...]] = field(default_factory=dict)
    _known: dict[Any, Block] = field(default_factory=dict)

    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return one law per part; a part that a changed input leaves unchanged is the same object."""
        n, made, users = len(inputs), [], Counter(inputs)
        for part, noise in enumerate(self._noise_of(n)):
            if part in self.banded:
                made.append(self._band(part, inputs))
                continue
            fixed, random = [0] * noise.mass.ndim, []
            for h, times in users.items():
                add = self.own[h][part]
                if len(add) == 1:  # a number that is not random: all such users together move the counts
                    (step,) = add
                    fixed = [x + times * y for x, y in zip(fixed, step, strict=True)]
                else:
                    random += [tuple(sorted(add.items()))] * times
            key = (n, part, tuple(fixed), *sorted(random))
            if key not in self._known:
                block = move_law(noise, tuple(fixed))
                for law in random:
                    block = plus(block, dict(law))
                self._known[key] = block
            made.append(self._known[key])
        return tuple(made)

    def _band(self, part: int, inputs: Held) -> Block:
        steps = [(next(iter(self.own[h][part])), times) for h, times in Counter(inputs).items()]
        total = (sum(step[0] * times for step, times in steps), sum(step[1] * times for step, times in steps))
        key = (part, total)
        if key not in self._known:
            self._known[key] = self.banded[part].move_counts(total)
        return self._known[key]

    def _noise_of(self, n: int) -> tuple[Block, ...]:
        if n not in self._noises:
            self._noises[n] = self.noise(n)
        return self._noises[n]

    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the counts of all parts."""
        return self.counts(payload)


# -- sums modulo a number ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModularView(View):
    """View of a sum modulo q: noise, and users' inputs that add `worth`; the messages are shares of the sum."""

    order: int = 2
    noise: Callable[[int], Block] = lambda n: point(1)
    worth: tuple[int, ...] = ()
    _known: dict[int, Block] = field(default_factory=dict)

    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return the law of the sum."""
        n = len(inputs)
        if n not in self._known:
            self._known[n] = self.noise(n)
        noise, total = self._known[n], sum(self.worth[h] for h in inputs)
        return (replace(noise, mass=np.roll(noise.mass, total % self.order)),)

    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the sum modulo q."""
        total = sum(int(x) for x in np.asarray(payload).tolist())
        return [(total % self.order,)]

    def letters(self, payload: NDArray[Any]) -> NDArray[np.int64]:
        """Return, for each share, the quarter of the group in which it lies."""
        return np.asarray(np.asarray(payload, float) * 4 // self.order, np.int64)


# -- slots that keep one report each -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SlotsView(View):
    """View in which every user picks one of m slots; a slot keeps one random report, and empty slots are filled.

    The analyzer sees the shuffled reports and the number of slots filled by users. `own` has the law of a report for
    each input, over vectors that count all kinds except the last. `filler` is the input of the fillers. If user 1's
    participation protects, `rate` is the participation probability and `population` the law of the number of other
    users. The analyzer then does not see the number of users.
    """

    slots: int = 1
    own: tuple[Own, ...] = ()
    filler: int = 0
    rate: float | None = None
    population: Law | None = None
    _known: dict[Any, Any] = field(default_factory=dict)

    @property
    def axes(self) -> int:
        """Number of counted kinds of reports."""
        return len(next(iter(self.own[0])))

    def _kept(self, inputs: Held) -> list[Block]:
        """Return the sums of the reports' laws over all subsets of K users, for K = 0, 1, .."""
        if inputs not in self._known:
            if not inputs:
                self._known[inputs] = [point(self.axes)]
            else:
                smaller, law = self._kept(inputs[:-1]), self.own[inputs[-1]]
                grown = [plus(block, law) for block in smaller]
                both = [
                    smaller[0],
                    *(mixed([(1.0, a), (1.0, b)]) for a, b in zip(smaller[1:], grown[:-1], strict=True)),
                ]
                self._known[inputs] = [*both, grown[-1]]
        sums: list[Block] = self._known[inputs]
        return sums

    def _filled(self, n: int) -> NDArray[np.float64]:
        """Return the probabilities that n users fill 0, 1, .., m slots."""
        law = np.zeros(self.slots + 1)
        law[0] = 1.0
        full = np.arange(self.slots + 1) / self.slots
        for _ in range(n):
            law = law * full + np.append(0.0, (law * (1 - full))[:-1])
        return law

    def seen(self, inputs: Held) -> Block:
        """Return the law of filled slots and reports, for users with these inputs in any order."""
        inputs, n = tuple(sorted(inputs)), len(inputs)
        chances, subsets, parts = self._filled(n), self._kept(inputs), []
        choose = 1.0
        for k in range(min(n, self.slots) + 1):
            if k:
                choose *= (n - k + 1) / k
            block = subsets[k]
            for _ in range(self.slots - k):
                block = plus(block, self.own[self.filler])
            with_k = Block(block.mass[None], (k, *block.start), block.error.rounded(4 * (n + k)))
            parts.append((float(chances[k]) / choose, with_k))
        return mixed(parts)

    def blocks(self, inputs: Held) -> tuple[Block, ...]:
        """Return the law for all users, averaged over random participation; the other users then have equal inputs."""
        if self.rate is None:
            return (self.seen(inputs),)
        return (self._averaged(inputs[0], inputs[1]),)

    def _averaged(self, own_input: int, other_input: int) -> Block:
        assert self.population is not None and self.rate is not None
        window, parts = self.population.window(), []
        for others, weight in zip(window.support.tolist(), window.pmf.tolist(), strict=True):
            crowd = (other_input,) * others
            parts.append((weight * self.rate, self.seen((own_input, *crowd))))
            parts.append((weight * (1 - self.rate), self.seen(crowd)))
        return mixed(parts)

    def numbers(self, law: Law) -> list[tuple[int, float]]:
        """Return the numbers of users; a single placeholder if the analyzer does not see the number."""
        return super().numbers(law) if self.rate is None else [(2, 1.0)]

    def of_participants(self) -> View:
        """Return the view of participating users, without random participation."""
        return self if self.rate is None else replace(self, rate=None, _known={})

    def tally(self, payload: NDArray[Any]) -> list[Place]:
        """Return the number of filled slots, and the number of reports of each counted kind."""
        counts = np.bincount(self.kinds(payload), minlength=self.axes + 1)
        return [(int(payload[:, -1].sum()), *counts[: self.axes].tolist())]
