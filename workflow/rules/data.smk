# Data sets: each is prepared as one file, from the first available source.


for name in datasets.NAMES:

    rule:
        name:
            f"dataset_{name}"
        output:
            data=f"{PREPARED}/{datasets.data_file(name)}",
            provenance=f"{PREPARED}/{name}.json",
            checksum=f"{PREPARED}/{name}.sha256",
        log:
            f"{LOGS}/dataset/{name}.log",
        conda:
            "../envs/run.yaml"
        params:
            dataset=name,
            sha256=sorted({row.sha256 for row in datasets.locations(name)}),
            code=CODE.keys("data"),
            # Setting a mirror, or forbidding substitutes, is a reason to get the data anew. Snakemake keeps parameters.
            mirror=datasets.without_login(os.environ.get("SHUFFLEDP_MIRROR", "")),
            policy=SETTINGS.data_source,
            raw_dir=RAW,
        script:
            "../scripts/prepare_dataset.py"


rule own_data:
    """Count a file of the user, once for all methods that use it."""
    input:
        own_source,
    output:
        numbers=f"{PREPARED}/{{key,file_[0-9a-f]+}}.npz",
        provenance=f"{PREPARED}/{{key,file_[0-9a-f]+}}.json",
        checksum=f"{PREPARED}/{{key,file_[0-9a-f]+}}.sha256",
    log:
        f"{LOGS}/dataset/{{key}}.log",
    conda:
        "../envs/run.yaml"
    params:
        asked=own_request,
        objects=own_objects,
        code=CODE.keys("results"),
        root=str(ROOT),
    script:
        "../scripts/prepare_own.py"


rule summaries:
    """Make the small tables of data/summaries/ from the raw files: snakemake --cores 1 --forcerun summaries summaries."""
    output:
        [
            f"data/summaries/{t}"
            for name in datasets.NAMES
            for t in datasets.spec(name).summaries
        ],
    log:
        f"{LOGS}/dataset/summaries.log",
    conda:
        "../envs/run.yaml"
    params:
        mirror=datasets.without_login(os.environ.get("SHUFFLEDP_MIRROR", "")),
        raw_dir=RAW,
    script:
        "../scripts/make_summaries.py"
