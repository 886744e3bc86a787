"""Jobs of a configuration: what a baseline adds to them, and what they read and write."""

from pathlib import Path

from shuffledp.pipeline.plan import Plan


def job_data(plan):
    """Return everything that Snakemake compares of the jobs of experiments, by name."""
    return {
        job.name: (job.jobs(plan.settings.seed), plan.inputs(job), plan.outputs(job), job.log)
        for job in plan.experiment_jobs
    }


def test_baseline_adds_only_its_jobs(project):
    before = Plan(project.settings(), project.root)
    project.write(
        "config/baselines/mine.yaml",
        'task: frequency\nmethods: {mine: {protocol: "mine.py:Mine"}}\nfigures: all\n',
    )
    after = Plan(project.settings(), project.root)
    assert set(job_data(before)) == {"experiment_demo_coins", "experiment_demo_curve"}
    added = job_data(after).keys() - job_data(before).keys()
    assert added == {"baseline_demo_coins_mine"}
    assert job_data(before).items() <= job_data(after).items()
    assert after.audits == before.audits and after.verdicts == before.verdicts
    (job,) = (job for job in after.experiment_jobs if job.name in added)
    assert job.outside == ["mine.py"]


def test_every_result_has_one_job(project):
    plan = Plan(project.settings(), Path(project.root))
    outputs = [path for job in plan.experiment_jobs for path in plan.outputs(job)]
    assert sorted(outputs) == sorted(
        path for paper in plan.settings.papers.values() for path in plan.paper_results(paper)
    )
    assert all(job.priority > 0 for job in plan.experiment_jobs)
    read = {path for job in plan.experiment_jobs for path in plan.inputs(job)}
    assert read == set()  # the demonstration has synthetic data
