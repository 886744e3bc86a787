# Experiments: one job per method of an experiment, which computes all cells in one process.


rule method:
    """Run one method of one experiment over its whole grid."""
    input:
        data=data_of,
    output:
        cells=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.cells.parquet",
        values_=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.values.parquet",
        provenance=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.json",
        checksum=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/{{experiment}}/{{method}}.log",
    benchmark:
        f"{LOGS}/{RESULTS}/{{paper}}/{{experiment}}/{{method}}.benchmark.tsv"
    priority: 1  # before the audits, which need many of the same calibrations
    conda:
        "../envs/run.yaml"
    params:
        job=job_of,
        code=code_of_method,
        prepared=PREPARED,
        root=str(ROOT),
        results=results_folder,
    script:
        "../scripts/run_method.py"
