# Experiments: one job for all methods of the library, and one for each method of the user, so that a new or changed
# method of the user computes its own curves only.


for planned in PLAN.experiment_jobs:

    rule:
        name:
            planned.name
        input:
            read_by_checksum(PLAN.inputs(planned)),
        output:
            PLAN.outputs(planned),
        log:
            f"{LOGS}/{RESULTS}/{planned.log}.log",
        priority: planned.priority  # the longest first, and before the audits, which need many of the same calibrations
        conda:
            "../envs/run.yaml"
        params:
            jobs=[job.plain() for job in planned.jobs(SETTINGS.seed)],
            code=CODE.keys("results", *planned.outside),
            prepared=prepared_folder,
            root=str(ROOT),
            results=results_folder,
        script:
            "../scripts/run_experiment.py"
