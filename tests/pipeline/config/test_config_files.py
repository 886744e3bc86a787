"""Files of experiments that run: the listed files and the user's files."""

import pytest

from shuffledp.pipeline.config import ConfigurationError
from shuffledp.pipeline.config.config_files import left_aside, paper_files

MINE = """\
study: {title: "Mine"}
experiments:
  one:
    task: {kind: frequency, domain_size: 2}
    data: {name: uniform}
    population: {users: 1000}
    budget: {eps: $eps, delta: 1.0e-6}
    grid: {eps: [0.5, 1.0]}
    methods: {local: {}}
figures:
  error: {title: "Error", experiment: one, x: eps, y: mse}
"""


def test_own_files_run_after_papers(project):
    project.write("config/own/mine.yaml", MINE)
    project.write("config/own/also.yml", MINE)
    settings = project.settings()
    assert list(settings.papers) == ["demo", "also", "mine"]
    mine = settings.papers["mine"]
    assert (mine.kind, mine.file, mine.citation) == (
        "study",
        "config/own/mine.yaml",
        "own experiment, of no paper",
    )
    assert mine.experiments["one"].source == ""
    assert list(project.settings(papers=[]).papers) == ["also", "mine"]
    assert list(project.settings(own="none").papers) == ["demo"]
    overridden = project.settings(overrides={"mine.one": {"repeats": 3, "grid": {"eps": [0.1]}}})
    assert overridden.papers["mine"].experiments["one"].repeats == 3
    assert overridden.shortened == {"mine"}


def test_another_folder_may_hold_them(project):
    project.write("studies/mine.yaml", MINE)
    assert list(project.settings(own="studies").papers) == ["demo", "mine"]
    with pytest.raises(ConfigurationError, match="config: own: there is no folder 'study'"):
        project.settings(own="study")


def test_baselines_join_own_figures(project):
    project.write("config/own/mine.yaml", MINE)
    project.write(
        "config/baselines/b.yaml",
        "task: frequency\nfigures: [mine.error]\nmethods: {mine: {protocol: 'mine.py:Mine', accounting: [printed]}}",
    )
    papers = project.settings().papers
    assert papers["mine"].figures["error"].methods == ["local", "mine"]
    assert "mine" not in papers["demo"].experiments["coins"].methods


@pytest.mark.parametrize(
    "file, says",
    [
        ("demo.yaml", "config/own/demo.yaml: the name 'demo' is taken"),
        ("all.yaml", "config/own/all.yaml: the name 'all' is taken"),
        ("draw_me.yaml", "the name 'draw_me' is taken"),
        ("My Study.yaml", "config/own/My Study.yaml: the file name must have lower-case letters"),
        ("mine.yml", "config/own/mine.yml: the name 'mine' is taken"),
    ],
)
def test_names_that_files_cannot_have(project, file, says):
    project.write("config/own/mine.yaml", MINE)
    project.write(f"config/own/{file}", MINE)
    assert says in project.mistake()


def test_mistakes_in_own_files_are_located(project):
    project.write("config/own/mine.yaml", MINE.replace("y: mse", "y: mze"))
    with pytest.raises(
        ConfigurationError, match=r"^config/own/mine\.yaml: figures\.error\.y: no quantity 'mze'"
    ):
        project.settings()


def test_what_is_not_listed_is_named(project):
    assert project.settings().idle == ()
    for name in ("other.yaml", "another.yml"):
        project.write(f"config/experiments/{name}", MINE)
    settings = project.settings()
    assert settings.idle == ("another.yml", "other.yaml")
    assert "another.yml, other.yaml (in config/experiments/)" in left_aside(settings.idle)
    assert list(paper_files(project.root)) == ["demo", "other"]


def test_a_run_needs_something_to_run(project):
    with pytest.raises(
        ConfigurationError, match="config: papers: the list is empty, and config/own has no experiment"
    ):
        project.settings(papers=[])


@pytest.mark.parametrize(
    "old, says",
    [
        ('    source: "Fig. 1"\n', r"demo\.yaml: experiments\.coins: lacks the key 'source'"),
        ("    caption: fig1.rst\n", r"demo\.yaml: figures\.fig1: lacks the key 'caption'"),
        ("    caption: budgets.rst\n", r"demo\.yaml: tables\.budgets: lacks the key 'caption'"),
    ],
)
def test_paper_states_its_origin(project, old, says):
    project.change("config/experiments/demo.yaml", old, "")
    with pytest.raises(ConfigurationError, match=says):
        project.settings()
    project.change("config/experiments/demo.yaml", "paper: {title: ", "study: {title: ")
    project.change("config/experiments/demo.yaml", ', doi: "10.1000/182"', "")
    project.settings()
