# Training: one job per run, which continues an interrupted run.


rule training:
    """Train one run; its checkpoint is not an output, so Snakemake keeps it after an interruption."""
    input:
        data=data_to_train_on,
    output:
        curve=f"{RESULTS}/training/{{paper}}/{{run}}.parquet",
        provenance=f"{RESULTS}/training/{{paper}}/{{run}}.json",
        checksum=f"{RESULTS}/training/{{paper}}/{{run}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/training/{{paper}}/{{run}}.log",
    conda:
        "../envs/learning.yaml"
    threads: 1
    params:
        job=training_job,
        code=CODE.keys("training"),
        prepared=PREPARED,
        raw=RAW,
        root=str(ROOT),
        checkpoint=checkpoint_of,
    script:
        "../scripts/train.py"
