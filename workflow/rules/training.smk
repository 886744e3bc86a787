# Training: one job per run, which goes on where an interrupted one stopped.


rule training:
    """Train one run; its checkpoint is no output, so that an interruption leaves it in place."""
    input:
        data=data_to_train_on,
    output:
        curve=f"{RESULTS}/training/{{paper}}/{{run}}.parquet",
        provenance=f"{RESULTS}/training/{{paper}}/{{run}}.json",
        checksum=f"{RESULTS}/training/{{paper}}/{{run}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/training/{{paper}}/{{run}}.log",
    benchmark:
        f"{LOGS}/{RESULTS}/training/{{paper}}/{{run}}.benchmark.tsv"
    conda:
        "../envs/learning.yaml"
    threads: 1
    params:
        job=training_job,
        code=code_of("train.py"),
        prepared=PREPARED,
        raw=RAW,
        root=str(ROOT),
        checkpoint=checkpoint_of,
    script:
        "../scripts/train.py"
