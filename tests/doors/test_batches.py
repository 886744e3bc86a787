"""Tables of `simulate`, the listing of protocols, and sentences of `describe` and of exported programs, as printed.

A share of at least 0.95 less 5 standard deviations of printed intervals contains the true value. Means are within 6
standard errors. A correct program misses these limits with a probability of at most 3e-7.
"""

import json
import re

import numpy as np
import pytest

import shuffledp
from command_line import invoked, one_line, printed, typed
from exported_programs import parameters_of, run
from printed_tables import best
from shuffledp.protocols import available
from shuffledp.protocols.client import analyzing, randomizers
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users
from shuffledp.userdata.counting import count_column

SETTING = typed("--domain-size 4 --eps 1 --delta 1e-6")
BUDGET = Budget(1.0, 1e-6)


@pytest.mark.parametrize(
    "what, protocol", [({}, "correlated_noise"), ({}, "silent_users"), ({"max_value": 3}, "central_laplace")]
)
def test_printed_intervals_are_of_the_batch(what, protocol):
    """The half-widths cover, see `test_intervals.py`."""
    counts = [612_345, 287_657, 99_997, 1]
    batch = shuffledp.simulate(counts=counts, protocol=protocol, eps=1.0, delta=1e-6, **what)
    rows = [line.split() for line in str(batch).splitlines()[-len(batch.truth) :]]
    for row, estimate, half in zip(rows, batch.estimates, batch.half_width, strict=True):
        assert abs(float(row[1]) - estimate) <= 0.01 * half
        assert half <= float(row[2]) <= 1.1 * half  # two digits


# -- protocols and describe -------------------------------------------------------------------------------------------


def test_only_acting_shufflers_change_messages():
    """Only shufflers that add messages or sample them change the messages."""
    text = printed("protocols")
    entry = re.compile(r"  (\w+): [^\n]*\n(?:      [^\n]*\n)*?      trust: (\w+);")
    listed = dict(entry.findall(text.partition("\nsummation")[0]))
    assert set(listed) == set(available("frequency"))
    for name, trust in listed.items():
        try:
            protocol = best(Frequency(4), name, 1999, BUDGET)
        except shuffledp.Infeasible:
            continue
        users = Users(np.arange(2000 if name != "public_coin" else 20) % 4)
        sent = protocol.encode(users, np.random.default_rng(1))
        mixed = protocol.shuffle(sent, Public(np.array([2000])), np.random.default_rng(2))
        same = sorted(map(str, mixed.payload.tolist())) == sorted(map(str, sent.payload.tolist()))
        assert same or trust not in ("shuffler", "local"), name
        assert not same or name not in ("sageo", "s1geo", "sbin")


@pytest.mark.parametrize("users", ["--users 1000", "--population poisson:999"])
@pytest.mark.parametrize("name", ["pure_dump", "sageo", "central_laplace"])
def test_described_numbers_are_those_of_comparisons(name, users):
    """`test_columns.py`, `test_messages.py` and `test_comparing.py` measure them."""
    words = (*typed(users), *SETTING)
    text = one_line("describe", name, *words)
    row = json.loads(printed("compare", *words, "--protocols", name, "--json"))["rows"][0]
    who = "1,000 planned users" if users.startswith("--users") else "1,000 users on average"
    (mse,) = re.findall(
        rf"averaged over the values: (\S+), for {who} with equal shares of all values\.", text
    )
    (sent,) = re.findall(rf"A user sends (\S+) messages of .*? for {who} with any values", text)
    told = float(mse), float(sent)
    assert told == pytest.approx((row["mse"], row["messages_per_user"]), rel=1e-3)


@pytest.mark.parametrize("users", [7_654_321, 123_456_789_012])
def test_whole_parameters_are_in_full(users):
    size = ("--users", str(users), *SETTING)
    for text in (
        one_line("describe pure_dump", *size),
        one_line("compare", *size, "--protocols", "correlated_noise"),
    ):
        assert f"n_users = {users}" in text or "n_users" not in text
        assert not re.search(r"= \d\.\d+e\+", text.partition("Trusted:")[0])


# -- exported programs ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the folder and the printed sentence of the programs of each protocol."""
    made = {}
    for name in ("grr_blanket", "sageo", "one_sided_noise"):
        place = tmp_path_factory.mktemp("programs") / name
        made[name] = place, one_line("client", name, "--users", "1000", *SETTING, "-o", str(place))
    return made


def messages(folder, counts):
    tag = parameters_of(folder)["checksum"][:8]
    return "".join(f"{value:02x}{tag}\n" * count for value, count in enumerate(counts))


@pytest.mark.parametrize("name", ["grr_blanket", "sageo", "one_sided_noise"])
def test_printed_calls_do_as_stated(folders, name, tmp_path):
    folder, text = folders[name]
    calls = re.findall(r"`python (\w+)\.py ([^`]*)`", text)
    assert [program for program, _ in calls] == ["client", "shuffler", "analyzer"]
    file = tmp_path / "sent"
    file.write_text(messages(folder, [400, 300, 200, 100]))
    sent = file.read_text().splitlines()
    words = {
        program: [{"FILE": str(file), "VALUE": "2", "N": "1000"}.get(word, word) for word in given.split()]
        for program, given in calls
    }
    place = ["--place", "0"] if "places" in words else []
    assert run(folder, "client", *words["client"], *place).stdout
    mixed = run(folder, "shuffler", *words["shuffler"]).stdout.splitlines()
    adds = "samples or adds messages, and permutes them" in text
    assert (sorted(mixed) == sorted(sent)) is not adds
    assert mixed != sent
    assert len(json.loads(run(folder, "analyzer", *words["analyzer"]).stdout)["estimates"]) == 4


@pytest.mark.parametrize(
    "name, users, label",
    [
        *(("one_sided_noise", users, label) for users, label in ((1000, "exact"), (1100, "upper"))),
        *(("sageo", users, "exact") for users in (900, 1000, 1100)),
        ("grr_blanket", 1100, "upper"),
    ],
)
def test_analyzer_labels_the_actual_users(folders, name, users, label):
    """More users than planned hide a value better, so that delta is below the stated worst case."""
    parameters = parameters_of(folders[name][0])
    sent = [(value,) for value, count in enumerate([users - 600, 300, 200, 100]) for _ in range(count)]
    answer = analyzing.analysis(parameters, sent, users)
    assert (answer["guarantee"], answer["guarantee_holds"]) == (label, True)


def test_analyzer_states_delta_is_a_mean(tmp_path):
    """A guarantee for a random number of users is no guarantee for every number, see `test_columns.py`."""
    folder = tmp_path / "random"
    one_line("client silent_users --population poisson:999", *SETTING, "-o", str(folder))
    parameters = parameters_of(folder)
    for users in (20, 1000):
        answer = analyzing.analysis(parameters, [(0,)] * users, users)
        assert answer["guarantee"] == "upper"
        assert answer["guarantee_note"] == "delta is averaged over the law of the number of users"


def test_correct_runs_are_rarely_warned_of(folders):
    """Of 200 runs 5 % are at most 26 except with a probability of 1e-5."""
    parameters = parameters_of(folders["one_sided_noise"][0])
    protocol = best(Frequency(4), "one_sided_noise", 999, BUDGET)
    who = Participants.from_counts(np.tile([600, 300, 99, 1], (200, 1)))
    warned = 0
    for row in protocol.sample_aggregate(who, np.random.default_rng(20_261_128)):
        sent = [(value,) for value, count in enumerate(row) for _ in range(int(count))]
        warnings = analyzing.analysis(parameters, sent, 1000)["warnings"]
        warned += any("at most about 1 in 20 has such a sum" in text for text in warnings)
    assert 0 < warned <= 26


def test_clients_take_and_analyzers_name_values(tmp_path, monkeypatch):
    """Inputs are the places at which `count` counts the values; names, unit and mean follow from the same messages."""
    monkeypatch.chdir(tmp_path)
    cities = ["Zürich", "Washington, D.C.", 'the "Q"', "other"]
    (tmp_path / "cities.txt").write_text("\n".join(cities[:3]), encoding="utf-8")
    common = typed("--users 200 --eps 2 --delta 1e-4 -o")
    one_line("client grr_blanket --values-file cities.txt --other", *common, "listed")
    one_line("client grr_blanket --domain-size 4", *common, "plain")
    listed, plain = (parameters_of(tmp_path / name) for name in ("listed", "plain"))
    for value, place in (*zip(cities, range(4), strict=True), (" Zürich ", 0), ("zürich", 3), ("7", 3)):
        assert randomizers.input_of(listed, value) == place
    assert randomizers.input_of(plain, "3") == 3
    sent = [(0,)] * 120 + [(3,)] * 80
    named = analyzing.analysis(listed, sent)
    assert named["values"] == cities
    assert named["estimates"] == analyzing.analysis(plain, sent)["estimates"]

    (tmp_path / "all.csv").write_text("city\n" + 'Zürich\n"Washington, D.C."\nRio\n' * 50, encoding="utf-8")
    one_line("count all.csv --column city --values-file cities.txt --other -o all.json")
    one_line("client grr_blanket --counts all.json", *common[2:], "from_counts")
    from_counts = parameters_of(tmp_path / "from_counts")
    assert (from_counts["domain"], from_counts["planned_users"]) == (listed["domain"], 150)
    one_line("count all.csv --column city -o found.json")
    done = invoked("client grr_blanket --counts found.json", *common, "found")
    warnings = done.stderr.splitlines()
    assert warnings[0].startswith("Warning: The 3 values found in the data are taken as the domain.")
    assert warnings[1:] == ["Warning: --users is 200, but the counts are of 150 users."]
    for value, warned in (
        ("Rio", "Warning: 1 value is not in the list of 4 values, and counts as 'other'.\n"),
        ("Zürich", ""),
    ):
        done = run(tmp_path / "listed", "client", value)
        assert (done.stdout.count("\n"), done.stderr) == (1, warned)

    numbers = np.random.default_rng(20_261_129).normal(20, 30, 200).round(2).tolist()
    counted = count_column(np.array(numbers), max_value=60, low=-5, levels=26)
    one_line(
        *typed("client single_message_sum --max-value 60 --low -5 --levels 26"),
        *("--unit", "minutes", *common, "range"),
    )
    one_line("client single_message_sum --max-value 26", *common, "levels")
    range_, levels = (parameters_of(tmp_path / name) for name in ("range", "levels"))
    inputs = [randomizers.input_of(range_, str(number)) for number in numbers]
    assert np.bincount(inputs, minlength=27).tolist() == counted.counts.tolist()
    sent = [(0,)] * 110 + [(1,)] * 90
    found, steps = analyzing.analysis(range_, sent), analyzing.analysis(levels, sent)
    assert found["unit"] == "minutes"
    assert found["estimates"][0] == pytest.approx(-5 * 200 + counted.step * steps["estimates"][0])
    assert found["half_width"][0] == pytest.approx(counted.step * steps["half_width"][0])
    assert found["mean"] * 200 == pytest.approx(found["estimates"][0])
    assert found["mean_half_width"] * 200 == pytest.approx(found["half_width"][0])
    assert found["relative_half_width"] == pytest.approx(found["half_width"][0] / abs(found["estimates"][0]))


def test_inputs_that_a_client_refuses(tmp_path):
    folder = tmp_path / "made"
    one_line("client grr_blanket --values red,blue", *SETTING[2:], "--users", "900", "-o", str(folder))
    vectors = json.loads((folder / "test_vectors.json").read_text())
    assert [one["value"] for one in vectors["clients"][:3]] == ["red", "blue", "red"]
    refused = vectors["refused_inputs"]
    assert [one["value"] for one in refused] == ["redx", "red", "red"]
    assert refused[0]["refusal"] == "value must be in the list of 2 values, got 'redx'."
    for words, reason in (
        (typed("--values red,blue --domain-size 3"), "Give one of --domain-size, --values"),
        (typed("--domain-size 3 --other"), "--other needs --values"),
        (typed("--domain-size 3 --unit minutes"), "--unit are for a sum"),
        (("--max-value", "2.5"), "must be an integer if levels is not given"),
    ):
        done = invoked("client bit_sum", *words, *SETTING[2:], "--users", "900", "-o", str(tmp_path / "no"))
        assert done.exit_code == 1 and reason in done.output
