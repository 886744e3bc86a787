# Figures and tables: one drawing job per paper; a single one is drawn by the same script.


for paper in SETTINGS.papers.values():
    files = drawings.drawing_files(paper)
    shown = [shown_in_report(paper, file) for file in files]
    every = [
        str(p) for p in drawings.output_files(Path(RESULTS), paper, SETTINGS.formats)
    ]

    rule:
        name:
            f"draw_{paper.key}"
        input:
            bundles_for(files),
            captions_of(paper, files),
            FIGURE_CODE,
        output:
            shown,
            [path for path in every if path not in set(map(str, shown))],
        log:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.log",
        benchmark:
            f"{LOGS}/{RESULTS}/{paper.key}/figures.benchmark.tsv"
        params:
            root=str(ROOT),
            paper=paper.key,
            setup=drawing_setup(paper, files),
        script:
            "../scripts/draw_paper.py"

    # A target per paper: snakemake --cores all random_population
    rule:
        name:
            paper.key
        input:
            f"{RESULTS}/figures/{paper.key}/manifest.json",

    for name in dict.fromkeys(file.name for file in files):
        own = [file for file in files if file.name == name]
        # A target per figure or table: snakemake --cores all random_population_fig4. Whoever asks for a file of it gets
        # just this drawing.
        workflow.ruleorder(f"{paper.key}_{name}", f"draw_{paper.key}")

        rule:
            name:
                f"{paper.key}_{name}"
            input:
                bundles_for(own),
                captions_of(paper, own),
                FIGURE_CODE,
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
            script:
                "../scripts/draw_paper.py"
