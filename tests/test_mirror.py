"""The tests stand as the sources do: tests/X/test_Y.py is about src/shuffledp/X/Y.py.

``test_package.py`` is about several modules of its folder's package, and a leading underscore is left out.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src/shuffledp"

#: What is about no module: by file or folder, and what it is about.
ELSEWHERE = {
    "golden": "answers as they were",
    "notebooks": "notebooks/",
    "pipeline": "Snakefile and workflow/",
    "properties": "bad configurations and bad files of data",
    "accounting/test_docstrings.py": "docstrings of shuffledp.accounting",
    "experiments/config/test_experiments_of_papers.py": "config/experiments/",
    "test_accountant_check.py": "tools/accountant_check.py",
    "test_comparison_rule.py": "tools/comparison_rule.py",
    "test_config_schema.py": "tools/config_schema.py",
    "test_audit_seeds.py": "tools/audit_seeds.py",
    "test_conformance_seeds.py": "tools/conformance_seeds.py",
    "test_documents.py": "README.md, CONTRIBUTING.md, CHANGELOG.md and docs/",
    "test_faults.py": "tools/faults.py",
    "test_gallery.py": "tools/gallery.py",
    "test_guides.py": "code and files of the pages of docs/",
    "test_own_data_times.py": "benchmarks/own_data.py",
    "test_scale.py": "benchmarks/scale.py and benchmarks/scale_picture.py",
    "test_numerical_errors.py": "tools/numerical_errors.py",
    "test_simulations.py": "tools/simulations.py",
    "test_site.py": "docs/hooks/",
    "test_environment.py": "Makefile, locks and environment.yml",
    "test_layers.py": "imports, by docs/architecture.md",
    "test_mirror.py": "the tests",
    "test_structure.py": "benchmarks/structure.py",
    "test_time_table.py": "benchmarks/pipeline.py",
    "test_typed_numbers.py": "README.md and docs/",
    "test_wheel.py": "the wheel",
    "test_other_pythons.py": "tools/other_pythons.py",
}

#: Modules without a file of their own in a folder without test_package.py, by the files that test them.
IN_ANOTHER_FILE = {
    "numerics/kinds.py": "accounting/test_guarded.py",
    "numerics/guards.py": "accounting/test_guarded.py",
    "figures/variants.py": "figures/test_paper.py",
    **dict.fromkeys(
        [f"figures/{name}.py" for name in ["pareto", "regions", "sheet"]], "figures/test_fronts.py"
    ),
    "accounting/general/comparisons.py": "accounting/general/test_randomizers.py",
    "comparison/registry_record.py": "comparison/test_describing.py",
    **dict.fromkeys(
        [f"accounting/questions/{name}.py" for name in ["answers", "batches", "reductions", "searches"]],
        "accounting/questions/test_deployments.py",
    ),
    "accounting/general/epsilon_search.py": "accounting/general/test_blanket.py",
    "accounting/general/dummy_blanket.py": "accounting/dump/test_dummies.py",
    "accounting/general/labeled_counts.py": "accounting/general/test_variation_ratio.py",
    "accounting/random_population/closed_forms.py": "accounting/random_population/test_amplification.py",
    "accounting/segmented/profile.py": "accounting/segmented/test_plans.py",
    **dict.fromkeys(
        [
            f"audit/{name}.py"
            for name in [
                *("frequency", "frequency_reports", "messages", "places", "sets", "settings"),
                *("summation", "vectors", "views"),
            ]
        ],
        "audit/test_auditor.py",
    ),
    **dict.fromkeys(
        [
            f"audit/{name}.py"
            for name in [
                *("measured", "sampling", "scale", "scale_reports", "scale_sets", "scale_sums"),
                *("scale_values", "together"),
            ]
        ],
        "audit/test_table.py",
    ),
    "experiments/audited.py": "audit/test_table.py",
    "comparison/drawing.py": "comparison/test_rows.py",
    "comparison/setting.py": "comparison/test_comparing.py",
    "accounting/dump/flexible_profile.py": "accounting/dump/test_flexible.py",
    "accounting/segmented/item_calibration.py": "accounting/segmented/test_items.py",
    "accounting/segmented/plan_search.py": "accounting/segmented/test_plans.py",
    "accounting/shuffle_gaussian/checkin.py": "accounting/shuffle_gaussian/test_subsampled.py",
    "accounting/shuffle_gaussian/participants.py": "accounting/shuffle_gaussian/test_subsampled.py",
    "accounting/summation/closed_designs.py": "accounting/summation/test_noise_design.py",
    **dict.fromkeys(
        [f"accounting/summation/{name}.py" for name in ["coarse_design", "coarse_law", "coarse_losses"]],
        "accounting/summation/test_coarse_noise.py",
    ),
    "accounting/summation/coarse_shipped.py": "accounting/summation/test_coarse_search.py",
    "accounting/summation/loss_cells.py": "accounting/summation/test_joint_noise.py",
    "accounting/summation/loss_sums.py": "accounting/summation/test_joint_noise.py",
    "accounting/summation/pair_table.py": "accounting/summation/test_joint_noise.py",
    "accounting/summation/search_steps.py": "accounting/summation/test_design_search.py",
    "accounting/summation/shift_noise.py": "accounting/summation/test_noise_design.py",
    **dict.fromkeys(
        [f"datasets/{name}.py" for name in ["content", "hosts", "partial"]], "datasets/test_download.py"
    ),
    "utility/sets.py": "accounting/segmented/test_plans.py",
    **dict.fromkeys(
        [f"claims/{name}.py" for name in ["case", "jobs", "reads", "together"]], "claims/test_judging.py"
    ),
    "claims/tables.py": "test_code_digest.py",
    "claims/review.py": "claims/test_documents.py",
    "claims/values.py": "claims/test_documents.py",
    "claims/witness.py": "claims/witnesses/test_random_population.py",
    "claims/witnesses/dump.py": "claims/test_dump.py",
    "claims/witnesses/random_population_clones.py": "claims/witnesses/test_random_population.py",
    "claims/witnesses/random_population_multi.py": "claims/witnesses/test_random_population.py",
    "claims/witnesses/summation.py": "claims/test_summation.py",
    **dict.fromkeys(
        [
            f"datasets/{n}.py"
            for n in ["catalogue", "errors", "prepared", "sources", "substitutes", "summaries", "tables"]
        ],
        "datasets/test_preparation.py",
    ),
    "datasets/gradients.py": "experiments/sources/test_gradients.py",
    "experiments/accuracy.py": "experiments/test_training.py",
    "experiments/trained.py": "experiments/test_training.py",
    **dict.fromkeys(
        [
            f"experiments/{name}.py"
            for name in [
                "bundle",
                "computed",
                "grid",
                "participants",
                "results",
                "seeds",
                "simulated",
                "work",
            ]
        ],
        "experiments/test_runner.py",
    ),
    "experiments/parts.py": "experiments/config/test_package.py",
    "experiments/reach.py": "test_code_digest.py",
    "experiments/trials.py": "test_cli.py",
    **dict.fromkeys(
        [
            f"figures/{name}.py"
            for name in [
                *("drawings", "legend", "panels", "picture", "plotter"),
                *("selection", "shown", "store", "style"),
            ]
        ],
        "figures/test_paper.py",
    ),
    "learning/curve.py": "learning/test_training.py",
    "learning/installed.py": "learning/test_model.py",
    "numerics/magnitudes.py": "accounting/general/test_profiles.py",
    "numerics/remember.py": "accounting/random_population/test_dummies.py",
    "extras.py": "test_environment.py",
    "utility/dump.py": "accounting/dump/test_flexible.py",
    "utility/hadamard.py": "accounting/baselines/test_package.py",
    "utility/hashing.py": "accounting/baselines/test_package.py",
}
CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}


def files(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob(pattern))


def own_file(module: str) -> str:
    """The test file of a module, by the mirror."""
    path = Path(module)
    return (path.parent / f"test_{path.stem.lstrip('_')}.py").as_posix()


def package_file(module: str) -> str:
    return (Path(module).parent / "test_package.py").as_posix()


MODULES = [module for module in files(SOURCE, "*.py") if not module.endswith("__init__.py")]
PACKAGES = [module for module in files(SOURCE, "*.py") if module.endswith("__init__.py")]
TEST_FILES = files(TESTS, "test_*.py")


def elsewhere(file: str) -> bool:
    return file in ELSEWHERE or file.partition("/")[0] in ELSEWHERE


def test_every_test_file_stands_where_its_module_stands():
    places = {own_file(m) for m in MODULES} | {package_file(p) for p in PACKAGES}
    lost = [file for file in TEST_FILES if file not in places and not elsewhere(file)]
    assert not lost, "no module or package of src/shuffledp has these names: " + ", ".join(lost)


def test_every_module_is_tested_somewhere():
    alone = {m for m in MODULES if own_file(m) not in TEST_FILES and package_file(m) not in TEST_FILES}
    assert alone == set(IN_ANOTHER_FILE), f"differ: {sorted(alone ^ set(IN_ANOTHER_FILE))}"
    assert set(IN_ANOTHER_FILE.values()) <= set(TEST_FILES)


def test_the_exceptions_exist():
    assert all((TESTS / name).exists() for name in ELSEWHERE)


# -- no test measures time ------------------------------------------------------------------------------------------


def clocks(tree: ast.AST) -> list[str]:
    """What a file reads of the clock; measuring belongs into benchmarks/, as ratios."""
    found = [
        f"line {node.lineno}: time.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "time" and node.attr in CLOCKS
    ]
    found += [
        f"line {node.lineno}: from time import {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in CLOCKS
    ]
    return found + [
        f"line {node.lineno}: timeit"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and "timeit" in ast.unparse(node)
    ]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("import time\nx = time.perf_counter()", 1),
        ("from time import monotonic", 1),
        ("import timeit", 1),
        ("import time\ntime.sleep(1)", 0),
    ],
)
def test_clocks_are_found(source, count):
    assert len(clocks(ast.parse(source))) == count


def test_no_test_reads_a_clock():
    """Except for waiting, which one helper does; see ``waiting.wait_until``."""
    found = {file: clocks(ast.parse((TESTS / file).read_text("utf-8"))) for file in files(TESTS, "*.py")}
    assert {file for file, lines in found.items() if lines} == {"waiting.py"}, found
