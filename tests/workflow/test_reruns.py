"""A change of the configuration reruns only the jobs that it can affect, for every leaf of every file.

For a long list of numbers, the first two and the last are tested, as places in a list have no role. For files with
similar drawings, not every leaf is tested. For leaves that differ only in names and in places of a list, the first is
tested.

Two descriptions of the affected jobs must agree: the jobs' params and inputs, from `planned_jobs`, and the role of the
leaf, which this module derives from the files.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
from planned_jobs import ROOT, Jobs, Workflow, replaced, scheduled

from shuffledp.pipeline.claims.results_read import READS
from shuffledp.pipeline.config.config_files import merged, read_yaml
from shuffledp.pipeline.experiments import training_jobs
from shuffledp.pipeline.experiments.bundle import CELL_NUMBERS, CELL_TEXTS, SPENT_METRICS
from shuffledp.pipeline.experiments.sources import COLUMNS
from shuffledp.pipeline.learning.plan import DECAYS, KINDS
from shuffledp.protocols.registry import available, get
from shuffledp.tasks import METRICS, TASK_KINDS

Place = tuple[str | int, ...]
Papers = Mapping[str, Any]
PAPERS = (
    "random_population",
    "dump",
    "summation",
    "shuffle_gaussian",
    "segmented",
    "deployments",
    "allocation",
    "comparison",
)
QUICK = read_yaml(ROOT / "config/quick.yaml")
ACCOUNTINGS = ("printed", "simplified", "corrected", "exact")
AXES = ("x", "along", "panels", "curves", "files")
# What captions say of an experiment's shared parts.
SAID = ("source", "assumed", "population", "data.name", "data.column", "task.truth")
SAID += ("budget.eps", "budget.delta", "budget.delta_times_users")


@pytest.fixture
def workflow(monkeypatch: pytest.MonkeyPatch) -> Workflow:
    monkeypatch.setattr(training_jobs, "available", lambda: True)  # with or without JAX
    return Workflow(monkeypatch)


# What the headline claims of the papers are decided by.
CLAIM_METHODS = {
    f"{key}.{experiment}.{method}"
    for key, experiments in READS.items()
    for experiment, methods in experiments.items()
    for method in methods
}

# -- leaves ----------------------------------------------------------------------------------------------------------


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, int | float) and index not in (0, 1, len(value) - 1):
                continue
            yield from leaves(inner, (*place, index))
    else:
        yield place, value


def variants(whole: Any, place: Place, value: Any, words: Collection[Any]) -> Iterator[Any]:
    """Return variants of the whole with a change at a place: another value, a shorter or longer list, a removed key."""
    others = list(_others(value, words))
    yield from (replaced(whole, place, new) for new in others[:3])
    if isinstance(place[-1], int):
        around = whole
        for part in place[:-1]:
            around = around[part]
        rest = around[: place[-1]] + around[place[-1] + 1 :]
        if rest:
            yield replaced(whole, place[:-1], rest)
        yield from (replaced(whole, place[:-1], [*around, new]) for new in others[:3])
    else:
        yield from _exchanged(whole, place)
    yield from (replaced(whole, place, new) for new in others[3:])


def _exchanged(whole: Any, place: Place) -> Iterator[Any]:
    """Return the whole with an axis of a drawing exchanged for another axis, and without the key."""
    entry = whole
    for part in place[:-1]:
        entry = entry[part]
    for other in AXES if place[-1] in AXES else ():
        if other in entry and entry[other] != entry[place[-1]]:
            yield replaced(whole, place[:-1], {**entry, place[-1]: entry[other], other: entry[place[-1]]})
    yield replaced(whole, place[:-1], {key: value for key, value in entry.items() if key != place[-1]})


def _others(value: Any, words: Collection[str]) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif not isinstance(value, str) and words:
        yield from (word for word in words if word != value)
    elif isinstance(value, int):
        # The half is last: between two values of a list that increases.
        yield from (v for v in (value + 1, value - 1, 2 * value, value // 2, value + 0.5) if v != value)
    elif isinstance(value, float):
        yield from (v for v in (0.9 * value, 1.1 * value, value / 2, 2 * value, value + 0.005) if v != value)
    else:
        texts = (f"{value} changed", f"{value}_1", f"other_{value}")
        # A grid variable: numbers of most kinds that may stand there.
        more = (1, 0.5) if value.startswith("$") else texts
        yield from (word for word in (*words, *more) if word != value)


def choices(paper: Any) -> list[list[str]]:
    """Return groups of texts that may replace each other."""
    experiments = paper["experiments"]
    functions = [
        m["function"] for e in experiments.values() for m in e["methods"].values() if "function" in m
    ]
    axes = ["method", "accounting", "eps", "delta", "eps_local"]
    own: list[list[str]] = []
    for experiment in experiments.values():
        own += [
            [f"${g}" for g in experiment["grid"]],
            [*experiment["methods"]],
            [*experiment["grid"], *axes],
        ]
    groups = [
        [*ACCOUNTINGS],
        [*METRICS, *CELL_NUMBERS, *SPENT_METRICS],
        [*CELL_TEXTS],
        ["25-50-25", "50-25-25", "25-25-50", "20-60-20"],
        *([*available(kind)] for kind in TASK_KINDS),
        *map(list, COLUMNS.values()),
        ["linear", "log"],
        [*paper.get("claims", {})],
        ["participants", "population"],
        ["categories", "tokens"],
        ["with_replacement", "without_replacement"],
        ["uniform", "adult", "msnbc", "ipums", "movielens", "mnist"],
        ["binomial", "poisson"],
        ["png", "pdf", "svg"],
        ["auto", "official"],
        [".3f", ".4f", ".5f", ".3g", ".4g", ".0f"],
        ["printed", "pair", "convex"],
        [*KINDS],
        [*DECAYS],
        [*functions],
        [*paper.get("training", {})],
        [*experiments],
    ]
    return [*own, *groups]


def words_for(value: Any, groups: list[list[str]]) -> list[str]:
    own = [group for group in groups if value in group]
    return list(dict.fromkeys(chain.from_iterable(own)))


# -- what can change, by role ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reach:
    """Jobs that a leaf can change directly; `everything_behind` adds the jobs that read their outputs."""

    methods: frozenset[str] = frozenset()
    trainings: frozenset[str] = frozenset()
    drawings: frozenset[str] = frozenset()
    manifests: frozenset[str] = frozenset()


def refers(value: Any, variable: str) -> bool:
    return any(leaf == f"${variable}" for _, leaf in leaves([value]))


def shared_part(experiment: Any, method: Any, part: str) -> Any:
    """Return a shared part of an experiment as a method sees it; functions see none."""
    if "function" in method:
        return {}
    own = method.get("budget", {}) if part == "budget" else {}
    return {**experiment.get(part, {}), **own}


def uses(experiment: Any, method: Any, variable: str) -> bool:
    shared = [shared_part(experiment, method, part) for part in ("task", "data", "population", "budget")]
    return refers([method.get("options", {}), method.get("arguments", {}), *shared], variable)


def entries(paper: Any) -> Iterator[tuple[str, Any]]:
    yield from {**paper.get("figures", {}), **paper.get("tables", {})}.items()


def methods_drawn(paper: Any, entry: Any) -> list[str]:
    return list(entry.get("methods") or paper["experiments"][entry["experiment"]]["methods"])


def with_looks(paper: Any, entry: Any) -> set[str]:
    """Return the methods whose looks a figure shows; curves of a variable's values have other looks."""
    drawn = methods_drawn(paper, entry)
    return set(drawn if entry.get("curves", "method") == "method" or len(drawn) > 1 else ())


def names_axis(entry: Any, variable: str) -> bool:
    return variable in [
        *(entry.get(axis) for axis in AXES),
        *(*entry.get("rows", ()), *entry.get("columns", ())),
        *entry.get("where", {}),
        *(axis for column in entry.get("entries", ()) for axis in column.get("where", {})),
    ]


def offered(experiment: Any, id: str, listed: list[str]) -> list[str]:
    """Return the accountings of a method if the experiment has these accountings."""
    method = experiment["methods"][id]
    if "accounting" in method:
        return list(method["accounting"])
    if "function" in method:
        return listed
    known = get(experiment["task"]["kind"], method.get("protocol", id)).accountings
    return [a for a in listed if a in known]


def _in_order(listed: list[str], offers: Mapping[str, list[str]]) -> Callable[[Any, Any], list[str]]:
    """Return a drawing's accountings in the legend's order: the experiment's order, then further ones."""

    def order(entry: Any, paper: Any) -> list[str]:
        shown = list(chain.from_iterable(offers[m] for m in methods_drawn(paper, entry)))
        return [a for a in dict.fromkeys([*listed, *shown]) if a in shown]

    return order


def of_experiment(key: str, before: Any, after: Any, name: str, rest: Place) -> Reach:
    """Return the role of a leaf in ``experiments.<name>``."""
    experiment = after["experiments"][name]
    methods, part = experiment["methods"], rest[0]
    drawn = {f for f, entry in entries(after) if entry["experiment"] == name}
    said = frozenset(f"{key}.{f}" for f in drawn)

    def of(wanted: Callable[[Any], bool]) -> frozenset[str]:
        return frozenset(f"{key}.{name}.{m}" for m, method in methods.items() if wanted(method))

    stated = ".".join(map(str, rest[:2]))
    in_captions = said if part in SAID or stated in SAID else frozenset()
    if part in ("source", "assumed"):
        return Reach(drawings=said)
    if part in ("task", "data", "population", "budget"):
        overridden = (lambda m: rest[1] in m.get("budget", {})) if part == "budget" else (lambda m: False)
        return Reach(of(lambda m: "function" not in m and not overridden(m)), drawings=in_captions)
    if part == "grid":
        variable = rest[1]
        captions = {k: experiment.get(k) for k in ("population", "budget")}
        seen = {f for f in drawn if names_axis(dict(entries(after))[f], variable)}
        all_say = refers(captions, variable)
        return Reach(
            of(lambda m: uses(experiment, m, variable)),
            drawings=said if all_say else frozenset(f"{key}.{f}" for f in seen),
        )
    if part == "repeats":
        return Reach(of(lambda m: "function" not in m))
    if part == "accounting":
        lists = [whole["experiments"][name].get("accounting", ["printed"]) for whole in (before, after)]
        old, new = ({m: offered(experiment, m, listed) for m in methods} for listed in lists)
        orders = [_in_order(listed, offers) for listed, offers in zip(lists, (old, new), strict=True)]
        turned = {f for f, e in entries(after) if f in drawn and orders[0](e, after) != orders[1](e, after)}
        return Reach(
            frozenset(f"{key}.{name}.{m}" for m in methods if old[m] != new[m]),
            drawings=frozenset(f"{key}.{f}" for f in turned),
        )
    if part in ("simulated_at", "spent_at", "profile_at"):
        return Reach(
            of(lambda m: uses(experiment, m, rest[1])),
            drawings=said if part == "simulated_at" else frozenset(),
        )
    assert part == "methods", f"no role for experiments.{name}.{rest}"
    id = str(rest[1])
    if rest[2] == "label":
        return Reach(
            drawings=frozenset(
                f"{key}.{f}" for f in drawn if id in methods_drawn(after, dict(entries(after))[f])
            )
        )
    return Reach(frozenset({f"{key}.{name}.{id}"}))


def of_training(key: str, paper: Any, run: str, setting: str) -> Reach:
    """Return a run, the methods that plot eps against it, and the methods whose grid has its rounds."""
    methods = set()
    for name, experiment in paper["experiments"].items():
        rounds = [v for v, values in experiment["grid"].items() if values == {"evaluated": run}]
        for m, method in experiment["methods"].items():
            counted = setting in ("rounds", "evaluate_every") and any(
                uses(experiment, method, v) for v in rounds
            )
            if method.get("training") == run or counted:
                methods.add(f"{key}.{name}.{m}")
    return Reach(frozenset(methods), trainings=frozenset({f"{key}.{run}"}))


def of_paper(key: str, before: Any, after: Any, place: Place) -> Reach:
    """Return the role of a leaf in a paper's file."""
    part = place[0]
    if part in ("paper", "study"):
        claims = frozenset(f"{key}.{claim}" for claim in after.get("claims", {}))
        return Reach(drawings=claims if place[1] == "citation" else frozenset(), manifests=frozenset({key}))
    if part == "experiments":
        return of_experiment(key, before, after, str(place[1]), place[2:])
    if part == "training":
        return of_training(key, after, str(place[1]), str(place[2]))
    if part == "looks":
        return Reach(
            drawings=frozenset(
                f"{key}.{f}"
                for f, entry in entries(after)
                if f in after.get("figures", {}) and place[1] in with_looks(after, entry)
            )
        )
    assert part in ("figures", "tables", "claims"), f"no role for {place}"
    return Reach(drawings=frozenset({f"{key}.{place[1]}"}))


def verdicts(papers: Iterable[str]) -> set[str]:
    """Return the jobs that judge claims of some papers, and the jobs that combine the verdicts."""
    judged = {f"verdicts {key}" for key in papers}
    return judged | ({"headlines"} if judged else set())


def everything_behind(reach: Reach, papers: Papers, pages: bool = False) -> set[str]:
    """Return the jobs of a reach, with all drawings that show a method, their papers' jobs and the page."""
    drawings = set(reach.drawings)
    for key, paper in papers.items():
        for name, entry in entries(paper):
            shown = {f"{key}.{entry['experiment']}.{m}" for m in methods_drawn(paper, entry)}
            if shown & reach.methods:
                drawings.add(f"{key}.{name}")
    drawn = {d.partition(".")[0] for d in drawings} | reach.manifests
    drawn |= {m.partition(".")[0] for m in reach.methods if m.partition(".")[0] in drawn}
    jobs = {f"method {m}" for m in reach.methods} | {f"training {t}" for t in reach.trainings}
    jobs |= {f"drawing {d}" for d in drawings} | {f"draw {key}" for key in drawn}
    judged = verdicts({method.partition(".")[0] for method in reach.methods & CLAIM_METHODS})
    return jobs | judged | ({"pages"} if drawn or judged or pages else set())


# -- every leaf ----------------------------------------------------------------------------------------------------

UNUSED_LOOK = 99
# Leaves that nothing else may replace as long as all others stay: what follows their place and value, and why.
ALONE = {
    r"= '\$": "a grid variable of no other use, and one without use is refused",
    r"^experiments\.\w+\.task\.kind =": "methods and data go with the kind of task",
    r"^experiments\.\w+\.task\.(\w+_(size|items)|levels|coordinates|real|norm|dimension) =": "goes with the data",
    r"^experiments\.\w+\.data\.(name|column|padding|weights\.\d) =": "goes with the other keys of the data",
    r"^formats\.\d = 'png'": "the pages need it",
    r"\.law =": "its arguments go with a law",
    r"\.(protocol|function) =": "options and arguments go with it",
    r"^experiments\.\w+(\.methods\.\w+)?\.accounting\.0 =": "no other is offered",
    r"\.methods\.\w+\.training =": "its rounds are the grid's",
    r"^training\.\w+\.(kind|batch|rate|sampled) =": "settings go with the kind",
    r"^training\.\w+\.data\.name =": "the other data are the user's own",
    r"\.returns =": "a drawing names it",
    r"^experiments\.\w+\.grid\.\w+\.evaluated =": "methods name the run, too",
    r"^experiments\.\w+\.grid\.\w+\.\d =": "a drawing picks it",
    r"^(figures|tables)\.\w+\.experiment =": "axes and methods go with it",
    r"^(figures|tables)\.\w+\.(x|y|value|along|panels|curves|files) =": "no other tells the numbers apart",
    r"^(figures|tables)\.\w+\.(rows|columns|where)\.": "no other tells the numbers apart",
    r"^tables\.\w+\.entries\.\d+\.heading =": "the order names it",
    r"^figures\.\w+\.kind =": "axes go with the kind of drawing",
    r"^(figures|tables)\.\w+\.controls\.\d+ =": "only methods of the drawing are its controls",
    r"^experiments\.\w+\.data\.split = '100'": "one level has one split",
}
#: Largest share of roles without a replaced leaf; replaceable roles have many leaves.
MOST_ALONE = 1 / 4
MOST_ATTEMPTS = 10


def compared(place: str, did: set[str], could: set[str]) -> list[str]:
    """Return an error if the sets differ; other tests cover the audit and the pictures over all papers."""
    audits = {job for job in did if job.startswith("audit") or job == "overall"}
    did, could = did - audits, could | ({"pages"} if audits else set())
    if did == could:
        return []
    return [f"{place}: runs for nothing: {sorted(did - could)}; does not run: {sorted(could - did)}"]


#: Keys of a paper's file whose entries have names as keys.
ENTRIES = ("experiments", "training", "figures", "tables", "looks", "claims")


def role(place: Place) -> Place:
    """Return a place without the names and numbers that only distinguish entries, as `of_paper` ignores them."""
    if place[0] not in ENTRIES:
        return place
    named = {1, 3} if place[2:3] in (("methods",), ("grid",)) else {1}
    return tuple("*" if i in named or isinstance(part, int) else part for i, part in enumerate(place))


def check_every_leaf(
    whole: Any,
    words: Callable[[Place, Any], Collection[Any]],
    jobs_of: Callable[[Any], Jobs],
    could: Callable[[Any, Place], set[str]],
    every: int = 1,
) -> None:
    """Replace a leaf of every role, and check that exactly the jobs whose output can change are scheduled."""
    before = jobs_of(whole)
    wrong, replaced_once, alone = [], set(), set()
    for place, value in islice(leaves(whole), 0, None, every):
        if role(place) in replaced_once:
            continue
        name, message = ".".join(map(str, place)), ""
        for changed in islice(variants(whole, place, value, words(place, value)), MOST_ATTEMPTS):
            try:
                after = jobs_of(changed)
            except SystemExit as refused:
                message = message or str(refused)
                continue
            wrong += compared(name, scheduled(before, after), could(changed, place))
            replaced_once.add(role(place))
            break
        else:
            alone.add(role(place))
            if not any(re.search(pattern, f"{name} = {value!r}") for pattern in ALONE):
                wrong.append(f"{name}: {value!r} cannot be replaced: {message}")
    assert not wrong, "\n".join([f"{len(wrong)} leaves", *wrong])
    never = alone - replaced_once
    assert len(never) <= MOST_ALONE * len(replaced_once | alone), f"no leaf was replaced of the roles {never}"


@pytest.mark.parametrize("key", PAPERS)
def test_every_leaf_of_a_papers_file_reruns_what_it_can_change(workflow: Workflow, key: str) -> None:
    config, paper = {**workflow.config, "papers": [key]}, workflow.papers[key]
    groups = choices(paper)

    def words(place: Place, value: Any) -> list[Any]:
        if place[0] == "looks":
            return [UNUSED_LOOK]
        if place[0] == "tables" and "order" in place:
            return [entry["heading"] for entry in paper["tables"][place[1]]["entries"]]
        if "where" not in place:
            return words_for(value, groups)
        experiment = paper["experiments"][paper[str(place[0])][place[1]]["experiment"]]
        variable = place[place.index("where") + 1]
        known = (
            experiment.get("accounting", ())
            if variable == "accounting"
            else experiment["grid"].get(variable, ())
        )
        return list(known)

    check_every_leaf(
        paper,
        words,
        lambda changed: workflow.jobs(config, {**workflow.papers, key: changed}),
        lambda changed, place: everything_behind(of_paper(key, paper, changed, place), {key: changed}),
        # Many pictures differ in names alone: a prime step meets every key in some of them.
        every={"comparison": 23, "segmented": 5, "dump": 5, "deployments": 1}.get(key, 3),
    )


@pytest.mark.parametrize(
    ("place", "new", "audited"),
    [
        (("task", "domain_size"), 2, False),
        (("budget", "delta"), 3e-6, True),
        (("grid", "eps"), [0.1, 0.2], True),
        (("repeats",), 7, False),
        (("task", "metrics"), ["tve", "mse"], False),
        (("methods", "amplified", "label"), "another", False),
    ],
)
def test_the_audit_runs_again_where_claims_change_and_only_there(
    workflow: Workflow, place: Place, new: Any, audited: bool
) -> None:
    key = "random_population"
    config, paper = {**workflow.config, "papers": [key]}, workflow.papers[key]
    before, after = (
        workflow.jobs(config, {**workflow.papers, key: one})
        for one in (paper, replaced(paper, ("experiments", "adult", *place), new))
    )
    runs = {job for job in scheduled(before, after) if job.startswith("audit")}
    families = {
        f"audit_share frequency_{name}" for name in ("polya_shares", "randomized_response", "secret_shares")
    }
    assert runs == ({*families, "audit"} if audited else set())
    assert {*families, "audit_share sets_set_protocol", "audit"} <= set(before)


def everything(papers: Papers, what: Callable[[Any, Any], bool]) -> frozenset[str]:
    """Return the methods of all papers that meet a condition."""
    return frozenset(
        f"{key}.{name}.{m}"
        for key, paper in papers.items()
        for name, experiment in paper["experiments"].items()
        for m, method in experiment["methods"].items()
        if what(experiment, method)
    )


def of_run(papers: Papers, before: Mapping[str, Any], place: Place) -> set[str]:
    """Return the role of a leaf in config/config.yaml, or in config/quick.yaml over it."""
    every = frozenset(papers)
    trainings = frozenset(
        f"{key}.{run}" for key, paper in papers.items() for run in paper.get("training", {})
    )
    if place[0] == "overrides":
        key, _, name = str(place[1]).partition(".")
        part, _, run = name.partition(".")
        inner = ("training", run, *place[2:]) if part == "training" else ("experiments", name, *place[2:])
        if key not in papers:  # of a paper or study that this scale leaves out
            return set()
        return everything_behind(of_paper(key, papers[key], papers[key], inner), papers)
    if place[0] == "seed":  # functions draw no numbers
        simulated = everything(papers, lambda e, m: "function" not in m or "training" in m)
        return everything_behind(Reach(simulated, trainings, manifests=every), papers)
    if place[0] == "papers":  # a study has no headline claim
        return {"pages"} if "study" in papers[before["papers"][place[1]]] else {"headlines", "pages"}
    if place[0] == "results":
        claims = frozenset(
            f"{key}.{claim}" for key, paper in papers.items() for claim in paper.get("claims", {})
        )
        reach = Reach(everything(papers, lambda e, m: True), trainings, claims, every)
        return everything_behind(reach, papers) | {f"claims {claim}" for claim in claims} | {"open_questions"}
    if place[0] == "data":
        names = {"adult", "msnbc", "ipums", "movielens", "mnist"}
        reach = Reach(
            everything(papers, lambda e, m: e.get("data", {}).get("name") in names or "training" in m),
            trainings,
        )
        return everything_behind(reach, papers) | {f"dataset {name}" for name in names}
    if place[0] == "effort":
        return verdicts(set(READS) & set(papers)) | {"open_questions", "pages"}
    if place[0] == "learning":
        return everything_behind(Reach(everything(papers, lambda e, m: "training" in m)), papers)
    if place[0] == "formats":
        figures = frozenset(
            f"{key}.{name}" for key, paper in papers.items() for name in paper.get("figures", {})
        )
        return everything_behind(Reach(drawings=figures), papers)
    assert place[0] in ("baselines", "own"), (
        f"no role for {place}"
    )  # what is in these folders, not their names
    return set()


@pytest.mark.parametrize("scale", ["papers", "quick"])
def test_every_leaf_of_the_run_reruns_what_it_can_change(workflow: Workflow, scale: str) -> None:
    whole = QUICK if scale == "quick" else workflow.config
    groups = [["png", "pdf", "svg"], ["auto", "official"]]

    def words(place: Place, value: Any) -> list[str]:
        usual = {"learning": "skip", "effort": "quick" if value == "full" else "full", "own": "none"}
        return [usual[place[0]]] if place[0] in usual else words_for(value, groups)

    check_every_leaf(
        whole,
        words,
        lambda changed: workflow.jobs(merged(workflow.config, changed)),
        lambda changed, place: of_run({key: workflow.papers[key] for key in whole["papers"]}, whole, place),
        every=5 if scale == "quick" else 3,
    )


# -- baselines -------------------------------------------------------------------------------------------------------


def tells_methods_apart(entry: Any) -> bool:
    """Return whether a drawing can show several methods: any figure, or a table with methods as rows or columns."""
    return "rows" not in entry or "method" in [*entry["rows"], *entry["columns"]]


@pytest.mark.parametrize(
    ("kind", "protocol", "drawing"),
    [
        ("frequency", "local", "random_population.fig4"),
        ("summation", "central_laplace", "summation.fig1c"),
        ("sets", "subset_local", "segmented.errors_uniform"),
        ("vectors", "local", "random_population.fig9"),
    ],
)
@pytest.mark.parametrize("joins", ["all", "one"])
def test_adding_a_baseline_runs_its_own_jobs_and_draws_what_it_enters(
    workflow: Workflow, tmp_path: Path, kind: str, protocol: str, drawing: str, joins: str
) -> None:
    figures = "all" if joins == "all" else [drawing]
    baseline = {"task": kind, "methods": {"mine": {"protocol": protocol}}, "figures": figures}
    (tmp_path / "mine.yaml").write_text(json.dumps(baseline))
    before = workflow.jobs(workflow.config)
    after = workflow.jobs({**workflow.config, "baselines": str(tmp_path)})
    drawn = {
        f"{key}.{name}": f"{key}.{entry['experiment']}"
        for key, paper in workflow.papers.items()
        for name, entry in entries(paper)
        if paper["experiments"][entry["experiment"]].get("task", {}).get("kind") == kind
        and (figures == [f"{key}.{name}"] or (figures == "all" and tells_methods_apart(entry)))
    }
    assert drawn
    everywhere = {
        f"{key}.{name}"
        for key, paper in workflow.papers.items()
        for name, experiment in paper["experiments"].items()
        if experiment.get("task", {}).get("kind") == kind
    }
    computed = everywhere if joins == "all" else set(drawn.values())
    expected = {f"method {experiment}.mine" for experiment in computed} | {f"drawing {d}" for d in drawn}
    expected |= {f"draw {d.partition('.')[0]}" for d in drawn} | {"pages"}
    assert scheduled(before, after) - {"overall"} == expected


def test_the_pictures_over_all_papers_read_what_is_ranked_what_has_two_accountings_and_the_claims(
    workflow: Workflow,
) -> None:
    jobs = workflow.jobs(workflow.config)
    read = {name for name, job in jobs.items() if job.outputs & jobs["overall"].inputs}
    ranked, others = (
        {
            f"method {key}.{name}.{m}"
            for key, paper in workflow.papers.items()
            for name, experiment in paper["experiments"].items()
            if ("ranked" in experiment) == wanted
            for m, method in experiment["methods"].items()
            if "function" not in (method or {}) or not wanted
        }
        for wanted in (True, False)
    )
    assert ranked and ranked | {"headlines"} <= read
    compared_alone = read - ranked - {"headlines"}
    assert compared_alone and compared_alone <= others
    assert not any(workflow.papers[name.split()[1].partition(".")[0]].get("study") for name in compared_alone)
    assert jobs["overall"].outputs <= jobs["pages"].inputs
