"""Clients, shufflers and analyzers: the law of messages, estimates by the programs, intervals, and files."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from client_vectors import FOLDER, exported
from command_line import invoked, printed
from exact_laws import SeededBits
from one_process import compare_here
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.client import export, randomizers
from shuffledp.protocols.client.description import (
    MORE,
    decay_below,
    decaying_clusters,
    shares_part,
    text,
)
from shuffledp.protocols.client.files import checksum
from shuffledp.protocols.frequency._hashing import hash_values
from shuffledp.protocols.registry import available
from shuffledp.sampling import FixedBits
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Participants, Public, Summation, Users

FALSE_ALARM = 1e-6
#: Least expected number of messages in a cell of a chi-square test.
FEWEST = 12


@dataclass(frozen=True)
class Case:
    """Protocol with a client."""

    kind: str
    name: str

    @property
    def batch(self) -> int:
        """Number of users per shuffle, large for shufflers that add many dummies."""
        return 20 if self.name in ("sbin", "sageo", "s1geo") else 1

    def calibrated(self, users: int, eps: float, size: int = 3) -> ProtocolBase:
        real = self.name == "real_sum"
        task = Frequency(size) if self.kind == "frequency" else Summation(size, real=real)
        options = {"levels": 2} if real else {}
        return get(self.kind, self.name).calibrate(Budget(eps, 1e-6), Fixed(users - 1), task, **options)


NAMES = {
    "frequency": (
        *("grr_blanket", "subset_selection", "solh", "pure_dump", "mix_dump", "balls_into_bins"),
        *("designated_coins", "silent_users", "one_sided_noise", "correlated_noise", "jump_counts"),
        *("sbin", "sageo", "s1geo"),
    ),
    "summation": ("single_message_sum", "bit_sum", "correlated_sum", "coarse_correlated_sum", "real_sum"),
}
CASES = [Case(kind, name) for kind, names in NAMES.items() for name in names]
#: Protocols that have clients for one sum, and raise for several sums, which are their purpose.
SEVERAL = {("summation", "sparse_sum")}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}.{case.name}")
#: True for ``make -C tools test-clients``, which draws more reports.
MANY = "SHUFFLEDP_MANY_REPORTS" in os.environ


def loaded(folder, name):
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Written:
    """Folder of a client, with its programs as modules and its parameters."""

    folder: Path
    client: ModuleType
    shuffler: ModuleType
    analyzer: ModuleType
    parameters: dict[str, Any]

    @classmethod
    def of(cls, protocol: ProtocolBase, folder: Path) -> Written:
        protocol.export_client(folder)
        programs = [loaded(folder, name) for name in ("client", "shuffler", "analyzer")]
        return cls(folder, *programs, programs[0].read_parameters(folder / "parameters.json"))

    def run(self, program: str, *words: str) -> str:
        """Return the output of a program that runs with the standard library only."""
        call = [sys.executable, "-I", "-S", str(self.folder / f"{program}.py"), *words]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def participants(case, counts, repeats=1):
    rows = np.tile(counts, (repeats, 1))
    if case.kind == "frequency":
        return Participants.from_counts(rows)
    truth = rows @ np.arange(len(counts)) / (len(counts) - 1 if case.name == "real_sum" else 1)
    return Participants(Public(np.full(repeats, sum(counts))), rows, truth.astype(float))


# -- the law of the messages ----------------------------------------------------------------------------------------


def drawn_rows(case, written, value, users):
    """Return the analyzer's counts for a batch of users, by the written client and shuffler."""
    source, sets, rows = SeededBits(value), Counter[tuple[tuple[int, ...], ...]](), Counter[tuple[int, ...]]()
    content = written.parameters
    decoded = cache(partial(written.shuffler.decoded, content))
    for _ in range(users // case.batch):
        messages = [
            decoded(message)
            for _ in range(case.batch)
            for message in written.client.user_messages(content, value, 0, source)
        ]
        if content["shuffler"]:
            messages = written.shuffler.shuffled_messages(content, messages, source)
        sets[tuple(sorted(messages))] += 1
    for messages, times in sets.items():
        rows[tuple(counted(written, messages, content["analyzer"]))] += times
    return rows


def counted(written, messages, analyzer):
    if analyzer["counting"] == "of_signs":  # as the aggregate has them
        tally = Counter(messages)
        return [tally[(symbol,)] for symbol in range(2 * analyzer["values"])]
    return written.analyzer.COUNTING[analyzer["counting"]](analyzer, Counter(messages))


def law_rows(protocol, case, value, users):
    """Return the same counts by `encode` for one user after another, or by the fast law for many messages."""
    rng, repeats = np.random.default_rng(value), users // case.batch
    if case.name in ("solh", "subset_selection", "grr_blanket", "single_message_sum", "bit_sum"):
        payload = protocol.encode(Users(np.full(repeats, value)), rng).payload
        size = getattr(protocol, "domain_size", protocol.alphabet_size)
        if case.name == "solh":
            rows = hash_values(payload[:, :1], np.arange(size), protocol.cells) == payload[:, 1:]
        else:
            rows = (payload.reshape(repeats, -1, 1) == np.arange(size)).any(axis=1)
    else:
        held = [case.batch * (number == value) for number in range(4 if case.kind == "summation" else 3)]
        rows = protocol.sample_aggregate(participants(case, held, repeats), rng)
    kinds, times = np.unique(rows.astype(np.int64), axis=0, return_counts=True)
    return Counter({tuple(kind): int(n) for kind, n in zip(kinds.tolist(), times, strict=True)})


def same_law(first, second):
    """Return the p-value of chi-square tests of two samples, for each number and whole rows; rare cells are merged."""
    places = [*range(len(next(iter(first)))), slice(None)]
    tests = [p for at in places if (p := table_p_value(first, second, at)) is not None]
    assert tests, "one outcome alone shows no law"
    return min(1.0, len(places) * min(tests))


def table_p_value(first, second, at):
    """Return the p-value for the numbers at a place of the rows, or None for one outcome alone."""
    cells: dict[Any, Any] = defaultdict(lambda: np.zeros(2))
    for sample, rows in enumerate((first, second)):
        for row, times in rows.items():
            cells[row[at]][sample] += times
    table = np.array(list(cells.values()))
    often = table.sum(axis=1) >= FEWEST * table.sum() / table.sum(axis=0).min()
    table = np.vstack((table[often], table[~often].sum(axis=0)))
    table = table[table.any(axis=1)]
    return None if len(table) == 1 else float(stats.chi2_contingency(table, correction=False).pvalue)


@each_case
def test_messages_have_the_law_of_encode(case, tmp_path):
    """There are 10,000 reports of two values; seeds are fixed, and the false-alarm rate is one in a million."""
    users = 10**6 if MANY else 10_000
    protocol = case.calibrated(1_500, 1.0)
    written = Written.of(protocol, tmp_path / case.name)
    for value in (0, 2) if case.kind == "frequency" else (1, 3):
        found = drawn_rows(case, written, value, users // 2)
        assert same_law(found, law_rows(protocol, case, value, users // 2)) > FALSE_ALARM


def test_hashes_are_those_of_the_protocol():
    seeds, values = np.random.default_rng(1).integers(0, 2**32, (2, 300))
    for cells in (2, 7, 1000, 2**32):
        ours = [randomizers.hashed(int(s), int(v), cells) for s, v in zip(seeds, values, strict=True)]
        assert ours == hash_values(seeds, values, cells).tolist()


def test_jumps_become_largest_and_ones(monkeypatch):
    """With messages up to 3: 7 = 3 + 3 + 1, and -7 = -3 - 3 - 3 + 1 + 1."""
    part = {"counters": 1, "symbols": 7, "mean": "0"}
    sizes = iter([7, 3, 7, 3])
    monkeypatch.setattr(randomizers, "poisson", lambda mean, source: 2)
    for sign, symbols in ((1, [4, 6, 6, 6]), (-1, [0, 0, 0, 0, 4, 4])):
        noise = {"jump": sign, "levels": 3, "content": []}
        monkeypatch.setattr(randomizers, "cluster", lambda part, source, noise=noise: (noise, next(sizes)))
        assert sorted(randomizers.shares(part, 0, 0, SeededBits(0))) == [(symbol,) for symbol in symbols]


# -- end to end -----------------------------------------------------------------------------------------------------

END_TO_END = [
    case for case in CASES if MANY or case.name in ("pure_dump", "subset_selection", "sbin", "bit_sum")
]


@pytest.mark.parametrize("case", END_TO_END, ids=lambda case: case.name)
def test_users_to_estimates_by_the_programs(case, tmp_path):
    """There are 20,000 users; shuffler and analyzer run as processes, and errors must be below 5 standard errors."""
    users, counts = 20_000, [10_000, 6_000, 3_000, 1_000]
    protocol = case.calibrated(users, 1.0, 4 if case.kind == "frequency" else 3)
    written, source = Written.of(protocol, tmp_path / case.name), SeededBits(5)
    file, mixed = tmp_path / "sent", tmp_path / "mixed"
    values = np.random.default_rng(2).permutation(np.repeat(np.arange(4), counts)).tolist()
    with file.open("w") as stream:
        for place, value in enumerate(values):
            for message in written.client.user_messages(written.parameters, value, place, source):
                stream.write(f"{message.hex()}\n")
    mixed.write_text(written.run("shuffler", str(file)))
    if not written.parameters["shuffler"]:
        lines = file.read_text().splitlines()
        assert (
            sorted(lines) == sorted(mixed.read_text().splitlines()) != lines != mixed.read_text().splitlines()
        )
    answer = json.loads(written.run("analyzer", str(mixed), "--users", str(users)))
    assert answer["users"] == answer["planned"] == users
    assert answer["guarantee_holds"] is True
    # A shuffler that adds messages has no seed: one correct run in twenty warns of its sum.
    drawn = "The frequencies sum to" if written.parameters["shuffler"] else "no such warning"
    assert [text for text in answer["warnings"] if not text.startswith(drawn)] == []
    truth = participants(case, counts).truth.ravel()
    errors = np.abs(np.array(answer["estimates"]) - truth)
    assert np.all(errors <= np.array(answer["half_width"]) * 5 / 1.96)


@each_case
def test_intervals_cover_as_stated(case, tmp_path):
    """Coverage for one value in runs of the fast law is right within 3 standard errors, up to discreteness.

    The numbers have the largest variance of rounding, as intervals assume.
    """
    users, top = 40_000, 3 if case.name in ("real_sum", "coarse_correlated_sum") else 2
    runs = 150 if case.name in ("bit_sum", "single_message_sum") else 300  # the analyzer takes long for these
    eps = 1.0 if case.name == "coarse_correlated_sum" else 0.25  # designs are shipped for 1
    protocol = case.calibrated(users, eps, 4 if case.kind == "frequency" else top)
    written = Written.of(protocol, tmp_path / case.name)
    counts = [0, users, *[0] * (top - 1)]
    if case.kind == "frequency":
        counts = [20_000, 12_000, 6_000, 2_000]
    who = participants(case, counts, runs)
    aggregates = protocol.sample_aggregate(who, np.random.default_rng(3))
    analyzer = written.parameters["analyzer"]
    estimating = written.analyzer.ESTIMATING[analyzer["estimating"]]
    estimates = protocol.estimate(aggregates, who.public).reshape(runs, -1)[:, 0]
    rows = aggregates.tolist()
    if case.kind == "frequency":  # the analyzer takes the counts of all runs as those of different values
        held = [row[0] - row[1] if "of_signs" in analyzer.values() else row[0] for row in rows]
        found, half_widths = estimating(analyzer, held, users, users, sum(rows[0]))
    else:
        constant = analyzer["estimating"] == "noisy_sum"  # its half-width depends on no message
        answers = [
            estimating(analyzer, row, users, users, sum(row)) for row in rows[: 20 if constant else runs]
        ]
        found, half_widths = (np.ravel(part) for part in zip(*answers, strict=True))
        assert not constant or np.ptp(half_widths) == 0
        half_widths = half_widths[0] if constant else half_widths
    assert found == pytest.approx(estimates[: len(found)], rel=1e-9, abs=1e-9)
    covered = np.abs(estimates - np.ravel(who.truth[0])[0]) <= np.asarray(half_widths) * (1 + 1e-12)
    allowed = 3 * math.sqrt(0.95 * 0.05 / runs)
    assert abs(np.mean(covered) - 0.95) <= allowed


# -- privacy of what is rounded -------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [1e-3, 0.1, 0.5, 1.0, 5.0])
def test_rates_of_clusters_are_rounded_up(eps):
    """The client's rate is a cell's rate times the probabilities to propose and to keep a size."""
    shape, stop, part = 0.3, -math.expm1(-eps), Fraction(1, 7)
    decay = decay_below(stop)
    noise = shares_part([({"decay": text(decay)}, decaying_clusters(shape, decay))], part)
    weights = [high - low for low, high in pairwise([0, *map(int, noise["ends"])])]
    assert Fraction(noise["mean"]) == Fraction(sum(weights), 2**64) * part
    with mpmath.workdps(60):
        ratio, x = 1 - mpmath.mpf(stop), mpmath.mpf(decay.numerator) / decay.denominator
        ends = [first + sizes for _, first, sizes in noise["cells"]]
        assert [1, *ends[:-1]] == [first for _, first, _ in noise["cells"]] and noise["cells"][-1][2] == 0
        for weight, (_, first, sizes) in zip(weights, noise["cells"], strict=True):
            proposed = (1 / mpmath.mpf(sizes)) if sizes else -mpmath.expm1(-x)
            for size in (first, first + 1, 2 * first - 1) if sizes != 1 else (first,):
                drawn = (
                    weight / mpmath.mpf(2) ** 64 * proposed * mpmath.exp(-x * (size - first)) * first / size
                )
                rate = shape * ratio**size / size
                assert rate < drawn < rate * (1 + (2 + eps * size) * float(MORE))


@pytest.mark.parametrize("eps", [0.2, 1.0, 3.0])
def test_sageo_noise_keeps_its_budget(eps):
    """Delta of the two counts that change is computed with 60 digits, for kept and dropped messages."""
    protocol = get("frequency", "sageo").calibrate(Budget(eps, 1e-6), Fixed(999), Frequency(3))
    sampled, noise = protocol.client().shuffler
    with mpmath.workdps(60):
        beta, left, right = (
            mpmath.mpf(f.numerator) / f.denominator
            for f in (Fraction(sampled["rate"]), Fraction(noise["left"]), Fraction(noise["right"]))
        )
        turn, more = noise["turn"], math.ceil(60 / eps)
        law = [left ** (turn - z) for z in range(turn)] + [right**z for z in range(more)]
        total = sum(law[:turn]) + 1 / (1 - right)
        absent = [mass / total for mass in law]
        held = [(1 - beta) * a + beta * (absent[z - 1] if z else 0) for z, a in enumerate(absent)]
        # Outcomes of the same two masses are alike: 0, up to the mode, and beyond.
        ratio = {0: [0], 1: range(1, turn + 1), 2: range(turn + 1, turn + more)}
        alike = [(sum(held[z] for z in zs), sum(absent[z] for z in zs)) for zs in ratio.values()]
        bound = mpmath.exp(eps)
        delta = sum(max(h * b - bound * a * g, 0) for h, a in alike for g, b in alike)
        assert delta <= 1e-6


# -- files ----------------------------------------------------------------------------------------------------------


@cache
def shown(folder):
    protocol = get("frequency", "mix_dump").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(300))
    return Written.of(protocol, folder / "visits")


@pytest.fixture
def visits(tmp_path_factory):
    return shown(tmp_path_factory.getbasetemp())


@each_case
def test_vectors_hold_for_the_written_programs(case, tmp_path):
    written = Written.of(case.calibrated(500, 1.0), tmp_path / case.name)
    vectors = json.loads((written.folder / "test_vectors.json").read_text())
    messages = []
    for one in vectors["clients"]:
        source = FixedBits(map(int, one["bits"]))
        sent = written.client.user_messages(written.parameters, one["value"], one["place"], source)
        assert [message.hex() for message in sent] == one["messages"] and source.used == len(one["bits"])
        messages += one["messages"]
    (tmp_path / "all").write_text("".join(f"{message}\n" for message in messages))
    known = vectors["analyzer"]
    read = written.analyzer.read_messages(written.parameters, str(tmp_path / "all"))
    answer = written.analyzer.analysis(written.parameters, read, known["users"])
    assert json.loads(json.dumps(answer)) == known["answer"]


def test_programs_refuse_what_the_vectors_list(visits, tmp_path):
    vectors = json.loads((visits.folder / "test_vectors.json").read_text())
    calls = [
        ("client", [str(one["value"]), "--place", str(one["place"])], one["refusal"])
        for one in vectors["refused_inputs"]
    ]
    for at, one in enumerate(vectors["refused_messages"]):
        (tmp_path / f"{at}").write_text(f"{one['message']}\n")
        calls += [
            (program, [str(tmp_path / f"{at}")], one["refusal"]) for program in ("shuffler", "analyzer")
        ]
    assert len(calls) == 4 + 2 * 5
    for program, words, refusal in calls:
        call = [sys.executable, str(visits.folder / f"{program}.py"), *words]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and refusal in done.stderr and done.stderr.count("\n") == 1


@each_case
def test_committed_vectors_hold(case):
    """Other implementations use these files: the same bits give the same messages, estimates and refusals."""
    committed = json.loads((FOLDER / f"{case.name}.json").read_text())
    parameters, vectors = committed["parameters"], committed["test_vectors"]
    assert parameters["checksum"] == checksum(parameters)
    assert_alike(json.loads(json.dumps(export.vectors(parameters))), vectors)
    fresh = exported(case.kind, case.name)["parameters"]
    assert_alike({**fresh, "checksum": None}, {**parameters, "checksum": None})


def assert_alike(first, second, place=""):
    """Check that two contents of files are equal, except for the rounding of floats and of fractions in texts."""
    if isinstance(first, dict):
        assert list(first) == list(second), place
        first, second = list(first.values()), list(second.values())
    if isinstance(first, list):
        assert len(first) == len(second), place
        for at, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_alike(one, other, f"{place}/{at}")
    elif isinstance(first, str) and re.fullmatch(r"\d{6,}(/\d+)?|\d+/\d{6,}", first):
        assert first == second or abs(Fraction(first) / Fraction(second) - 1) < Fraction(1, 10**6), place
    elif isinstance(first, float):
        assert first == pytest.approx(second, rel=1e-6, abs=1e-9), place
    else:
        assert first == second, place


def test_client_sends_messages_of_one_length(visits):
    _, dummies = visits.parameters["client"]
    for place, more in ((0, 1), (dummies["more"] - 1, 1), (dummies["more"], 0)):
        lines = visits.run("client", "299", "--place", str(place)).splitlines()
        assert {len(line) for line in lines} == {12}  # 300 values take two bytes, and the tag four
        assert len(lines) == 1 + dummies["each"] + more


@pytest.mark.parametrize(
    "words, said",
    [
        (["nothing"], "No such file or directory: 'nothing'"),
        (["/dev/null"], "Give the number of users who took part with --users."),
        (["/dev/null", "--users", "0"], "The number of users must be at least 1, got 0."),
    ],
)
def test_wrong_program_inputs_are_one_line(visits, words, said):
    call = [sys.executable, str(visits.folder / "analyzer.py"), *words]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_changed_parameters_are_refused(tmp_path):
    protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(3))
    written = Written.of(protocol, tmp_path / "changed")
    place = written.folder / "parameters.json"
    place.write_text(place.read_text().replace('"planned_users": 1000', '"planned_users": 1001'))
    for name in ("client", "shuffler", "analyzer"):
        call = [sys.executable, str(written.folder / f"{name}.py"), "0"]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "checksum" in done.stderr


def test_user_files_are_not_overwritten(tmp_path):
    protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(3))
    taken, file = tmp_path / "taken", tmp_path / "file"
    taken.mkdir()
    protocol.export_client(taken)  # an empty folder is filled
    before = {path: path.read_bytes() for path in taken.iterdir()}
    file.write_text("mine")
    for folder, said in (
        (taken, r"taken exists and is not an empty folder"),
        (file, r"file exists and is not an empty folder"),
        (tmp_path / "none" / "new", r"There is no folder .*none for new"),
    ):
        with pytest.raises(ValueError, match=said):
            protocol.export_client(folder)
    assert {path: path.read_bytes() for path in taken.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


def test_unfinished_folder_does_not_appear(tmp_path, monkeypatch):
    protocol = get("frequency", "grr_blanket").calibrate(Budget(1.0, 1e-6), Fixed(999), Frequency(3))
    usual = Path.write_text

    def full(path, content, **how):
        if path.name == "analyzer.py":
            raise OSError(28, "No space left on device", str(path))
        return usual(path, content, **how)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        protocol.export_client(tmp_path / "new")
    assert not list(tmp_path.iterdir())


# -- which protocols, and the command -------------------------------------------------------------------------------


def test_built_ins_have_client_or_reason():
    with_client = {(case.kind, case.name) for case in CASES} | SEVERAL
    for kind in TASK_KINDS:
        for name in available(kind):
            protocol = get(kind, name)
            assert (protocol.client is not ProtocolBase.client) == ((kind, name) in with_client), name
            if (kind, name) not in with_client:
                assert protocol.no_client != ProtocolBase.no_client, f"{name} gives no reason"
                assert protocol.no_client.endswith(".")


def test_command_writes_client_of_setting(tmp_path):
    setting = ["--users", "3k", "--max-value", "3", "--eps", "1", "--delta", "1e-6"]
    call = ["client", "single_message_sum", *setting, "-o", str(tmp_path / "sum")]
    done = invoked(*call)
    assert done.exit_code == 0 and "python client.py VALUE" in done.output
    stated = json.loads((tmp_path / "sum" / "parameters.json").read_text())
    assert [stated[name] for name in ("protocol", "eps", "delta", "planned_users", "inputs")] == [
        "single_message_sum", 1.0, 1e-6, 3000, 4,
    ]  # fmt: skip
    again = invoked(*call)
    assert again.exit_code == 1 and "sum exists and is not an empty folder" in again.output
    none = invoked("client", "skellam", *setting, "-o", str(tmp_path / "other"))
    assert none.exit_code == 1 and "skellam has no client. Messages are added up" in none.output
    assert not (tmp_path / "other").exists()


def test_compare_prints_the_client_command(tmp_path, monkeypatch):
    compare_here(monkeypatch)
    compare = ["compare", "--eps", "0.9", "--delta", "1e-6"]
    fixed = ["--users", "5000"]
    for more in (
        ["--population", "poisson:4000", "--domain-size", "5", "--protocols", "balls_into_bins"],
        [*fixed, "--domain-size", "20", "--protocols", "pure_dump,grr_blanket", "--accounting", "exact"],
        [*fixed, "--max-value", "3", "--protocols", "bit_sum"],
    ):
        output = printed(*compare, *more)
        words = output.partition("Next command:\n  shuffledp ")[2].splitlines()[0].split()
        folder = tmp_path / words[1]
        done = invoked(*words[:-1], str(folder))
        assert done.exit_code == 0, done.output
        recommended = json.loads(printed(*compare, *more, "--json"))["recommendation"]
        calibrated = json.loads((folder / "parameters.json").read_text())["calibrated"]
        assert calibrated.items() <= recommended["parameters"].items()
    output = printed(*compare, *fixed, "--domain-size", "20", "--protocols", "local")
    assert output.startswith("Use ") and "Next command" not in output
