# Figures and tables: one drawing job per paper, or a job for a single figure. A drawing depends only on its input files
# and its params.


rule verdicts:
    """Decide every claim of a paper by its results and by the accounting."""
    input:
        bundles_of_verdicts,
    output:
        table=f"{RESULTS}/claims/{{paper}}/verdicts.csv",
        checksum=f"{RESULTS}/claims/{{paper}}/verdicts.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/verdicts.log",
    conda:
        "../envs/run.yaml"
    params:
        job=verdict_job,
        code=CODE.keys("claims"),
    script:
        "../scripts/verdicts.py"


rule claims:
    """All verdicts in one table, and the headline claim of every paper in another."""
    input:
        tables=[table for table, _ in verdict_tables()],
        checksums=[checksum for _, checksum in verdict_tables()],
    output:
        table=CLAIMS[0],
        checksum=CLAIMS[1],
        headlines=HEADLINES[0],
        headlines_checksum=HEADLINES[1],
    log:
        f"{LOGS}/{RESULTS}/claims.log",
    conda:
        "../envs/run.yaml"
    params:
        code=CODE.keys("claims"),
    script:
        "../scripts/claims.py"


rule open_questions:
    """Search for answers to the open questions, and write the extent of the search into one table."""
    output:
        table=OPEN_QUESTIONS[0],
        checksum=OPEN_QUESTIONS[1],
    log:
        f"{LOGS}/{RESULTS}/open_questions.log",
    conda:
        "../envs/run.yaml"
    params:
        effort=SETTINGS.effort,
        code=CODE.keys("claims"),
    script:
        "../scripts/open_questions.py"


rule overall:
    """Rank all protocols, and draw the pictures that need several papers."""
    input:
        read_by_checksum(bundle_files(overall_jobs.bundles(PLAN.overall))),
        CLAIMS,
        kept_overall(),
    output:
        PLAN.overall_drawn,
    log:
        f"{LOGS}/{RESULTS}/overall.log",
    conda:
        "../envs/run.yaml"
    params:
        job=PLAN.overall,
        code=CODE.keys("overall"),
    script:
        "../scripts/draw_overall.py"


for paper in SETTINGS.papers.values():
    files = drawings.drawings_of(paper)
    job = drawings.paper_job(paper, SETTINGS, ROOT)
    if paper.claims:

        rule:
            name:
                f"claims_{paper.key}"
            output:
                PLAN.claim_tables(paper),
            log:
                f"{LOGS}/{RESULTS}/{paper.key}/claims.log",
            conda:
                "../envs/run.yaml"
            params:
                code=CODE.keys("claims"),
                paper=paper.key,
                tables=list(paper.claims),
            script:
                "../scripts/claim_tables.py"

    rule:
        name:
            f"draw_{paper.key}"
        input:
            read_by_checksum(PLAN.drawing_inputs(files)),
            PLAN.claim_tables(paper),
            captions_of(job["drawings"]),
        output:
            PLAN.list_drawings(paper),
        log:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.log",
        conda:
            "../envs/run.yaml"
        params:
            job=job,
            code=CODE.keys("figures"),
        script:
            "../scripts/draw_paper.py"

    # A target per paper: snakemake --cores all random_population
    rule:
        name:
            paper.key
        input:
            PLAN.list_drawings(paper),
            PLAN.computed(paper),

    for drawing in files:
        own, name = [drawing], drawing.id
        parts = [part for part in job["drawings"] if part["id"] == name]
        # A target per figure or table: snakemake --cores all random_population_fig4. The files belong to the paper's own
        # job otherwise.
        of_paper, of_name = f"draw_{paper.key}", f"{paper.key}_{name}"
        own_files = [
            str(p) for p in drawings.files_of(Path(RESULTS), own, SETTINGS.formats)
        ]
        # A figure whose file is named on the command line is drawn alone. Snakemake reads its targets after the rules.
        alone = {*own_files} & {*sys.argv} and not {"all", paper.key} & TARGETS
        workflow.ruleorder(*((of_name, of_paper) if alone else (of_paper, of_name)))

        rule:
            name:
                of_name
            input:
                read_by_checksum(PLAN.drawing_inputs(own)),
                captions_of(parts),
            output:
                own_files,
            log:
                f"{LOGS}/{RESULTS}/{paper.key}/{name}.log",
            conda:
                "../envs/run.yaml"
            params:
                drawings=parts,
                code=CODE.keys("figures"),
            script:
                "../scripts/draw_figure.py"
