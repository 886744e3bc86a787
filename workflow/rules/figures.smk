# Figures and tables: one drawing job per paper; the same script draws a single figure. A drawing depends only on its input
# files and its params. The job of a paper draws the changed figures and takes the others from results/drawn/. This folder
# is not an output, so Snakemake keeps it.


rule claim_table:
    """Compute a table of a paper's claims; fail if a witness does not show its erratum or note."""
    output:
        table=f"{RESULTS}/claims/{{paper}}/{{claim}}.csv",
        checksum=f"{RESULTS}/claims/{{paper}}/{{claim}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/{{claim}}.log",
    benchmark:
        f"{LOGS}/{RESULTS}/{{paper}}/{{claim}}.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        code=code_of_claim,
    script:
        "../scripts/claim_table.py"


rule verdicts:
    """Decide every claim of a paper by its results and by the accounting."""
    input:
        bundles_of_verdicts,
    output:
        table=f"{RESULTS}/claims/{{paper}}/verdicts.csv",
        checksum=f"{RESULTS}/claims/{{paper}}/verdicts.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/verdicts.log",
    benchmark:
        f"{LOGS}/{RESULTS}/{{paper}}/verdicts.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        job=verdict_job,
        code=code_of_verdicts,
    script:
        "../scripts/verdicts.py"


ruleorder: verdicts > claim_table


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
    benchmark:
        f"{LOGS}/{RESULTS}/claims.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        code=code_of("claims.py"),
    script:
        "../scripts/claims.py"


rule open_questions:
    """Search for answers to the open questions, and write the extent of the search into one table."""
    output:
        table=OPEN_QUESTIONS[0],
        checksum=OPEN_QUESTIONS[1],
    log:
        f"{LOGS}/{RESULTS}/open_questions.log",
    benchmark:
        f"{LOGS}/{RESULTS}/open_questions.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        effort=SETTINGS.effort,
        code=code_of("open_questions.py"),
    script:
        "../scripts/open_questions.py"


rule overall:
    """Rank all protocols, and draw the pictures that need several papers."""
    input:
        bundles_of_overall(),
        CLAIMS,
        kept_overall(),
    output:
        OVERALL,
    log:
        f"{LOGS}/{RESULTS}/overall.log",
    benchmark:
        f"{LOGS}/{RESULTS}/overall.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        job=OVERALL_JOB,
        code=code_of("draw_overall.py"),
    script:
        "../scripts/draw_overall.py"


for paper in SETTINGS.papers.values():
    files = drawings.drawings_of(paper)
    job = drawings.paper_job(paper, SETTINGS, ROOT)

    rule:
        name:
            f"draw_{paper.key}"
        input:
            bundles_for(files),
            claims_of(paper),
            captions_of(job["drawings"]),
        output:
            drawn_files(paper),
        log:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.log",
        benchmark:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.benchmark.tsv"
        conda:
            "../envs/run.yaml"
        params:
            job=job,
            code=FIGURE_CODE,
        script:
            "../scripts/draw_paper.py"

    # A target per paper: snakemake --cores all random_population
    rule:
        name:
            paper.key
        input:
            drawn_files(paper),
            computed_files(paper),

    for name in dict.fromkeys(file.name for file in files):
        own = [file for file in files if file.name == name]
        jobs = [one for one in job["drawings"] if one["name"] == name]
        # A target per figure or table: snakemake --cores all random_population_fig4. The files belong to the paper's own
        # job otherwise.
        workflow.ruleorder(f"draw_{paper.key}", f"{paper.key}_{name}")

        rule:
            name:
                f"{paper.key}_{name}"
            input:
                bundles_for(own),
                captions_of(jobs),
            output:
                [
                    str(p)
                    for p in drawings.files_of(Path(RESULTS), own, SETTINGS.formats)
                ],
            log:
                f"{LOGS}/{RESULTS}/{paper.key}/{name}.log",
            benchmark:
                f"{LOGS}/{RESULTS}/{paper.key}/{name}.benchmark.tsv"
            conda:
                "../envs/run.yaml"
            params:
                drawings=jobs,
                code=FIGURE_CODE,
            script:
                "../scripts/draw_figure.py"
