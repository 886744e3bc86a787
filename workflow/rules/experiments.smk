# Experiments: one job per (experiment, method), all of its cells in one process.


def data_of(wildcards):
    name = experiment_of(wildcards).dataset
    return [f"{PREPARED}/{datasets.data_file(name)}", f"{PREPARED}/{name}.sha256"] if name else []


def method_of(wildcards):
    return experiment_of(wildcards).methods[wildcards.method]


def own_module(wildcards):
    """The method's own file; editing it reruns its curves and no others."""
    method = method_of(wildcards)
    if not method.protocol:
        return []
    path = module_path(experiment_of(wildcards).parts["task"]["kind"], method.protocol, root=ROOT)
    return os.path.relpath(path)


def job_of(wildcards):
    """What the job depends on, and nothing else: a changed value elsewhere does not rerun it."""
    return experiment_of(wildcards).job(wildcards.method, SETTINGS.seed)


rule method:
    """Run one method of one experiment over its whole grid."""
    input:
        data=data_of,
        core=CORE,
        module=own_module,
    output:
        cells=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.cells.parquet",
        values_=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.values.parquet",
        provenance=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.json",
        checksum=f"{RESULTS}/runs/{{paper}}/{{experiment}}/{{method}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/{{experiment}}/{{method}}.log",
    benchmark:
        f"{LOGS}/{RESULTS}/{{paper}}/{{experiment}}/{{method}}.benchmark.tsv"
    params:
        job=job_of,
        prepared=PREPARED,
        root=str(ROOT),
    script:
        "../scripts/run_method.py"
