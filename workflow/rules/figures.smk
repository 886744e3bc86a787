# Figures and tables: one drawing job per paper; a single one is drawn by the same script.


rule claim_table:
    """Compute a table of a paper's claims; fails if a witness does not show its erratum or note."""
    output:
        table=f"{RESULTS}/claims/{{paper}}/{{claim}}.csv",
        checksum=f"{RESULTS}/claims/{{paper}}/{{claim}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/{{paper}}/{{claim}}.log",
    benchmark:
        f"{LOGS}/{RESULTS}/{{paper}}/{{claim}}.benchmark.tsv"
    params:
        code=code_of_claim,
    script:
        "../scripts/claim_table.py"


for paper in SETTINGS.papers.values():
    files = drawings.drawing_files(paper)
    shown = [shown_in_report(paper, file) for file in files] + claims_in_report(paper)

    rule:
        name:
            f"draw_{paper.key}"
        input:
            bundles_for(files),
            claims_of(paper),
            captions_of(paper, files),
        output:
            shown,
            [path for path in drawn_files(paper) if path not in set(map(str, shown))],
        log:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.log",
        benchmark:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.benchmark.tsv"
        params:
            root=str(ROOT),
            paper=paper.key,
            setup=drawing_setup(paper, files),
            code=code_of("draw_paper.py"),
        script:
            "../scripts/draw_paper.py"

    # A target per paper: snakemake --cores all random_population
    rule:
        name:
            paper.key
        input:
            drawn_files(paper),

    for name in dict.fromkeys(file.name for file in files):
        own = [file for file in files if file.name == name]
        # A target per figure or table: snakemake --cores all random_population_fig4. The files belong to the paper's own
        # job otherwise.
        workflow.ruleorder(f"draw_{paper.key}", f"{paper.key}_{name}")

        rule:
            name:
                f"{paper.key}_{name}"
            input:
                bundles_for(own),
                captions_of(paper, own),
            output:
                [
                    str(p)
                    for p in drawings.files_of(Path(RESULTS), own, SETTINGS.formats)
                ],
            log:
                f"{LOGS}/{RESULTS}/{paper.key}/{name}.log",
            benchmark:
                f"{LOGS}/{RESULTS}/{paper.key}/{name}.benchmark.tsv"
            params:
                root=str(ROOT),
                paper=paper.key,
                only=name,
                setup=drawing_setup(paper, own),
                code=code_of("draw_paper.py"),
            script:
                "../scripts/draw_paper.py"
