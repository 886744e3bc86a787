# The site with every figure and table.


rule pages:
    """Write the site, which is readable offline: first page, a page per paper, errata."""
    input:
        [drawn_files(paper) for paper in SETTINGS.papers.values()],
        OVERALL,
        CLAIMS,
        HEADLINES,
        AUDIT,
        OPEN_QUESTIONS,
    output:
        SITE,
    log:
        f"{LOGS}/{RESULTS}/pages.log",
    benchmark:
        f"{LOGS}/{RESULTS}/pages.benchmark.tsv"
    conda:
        "../envs/run.yaml"
    params:
        results=results_folder,
        papers=list(SETTINGS.papers),
        protocols=PROTOCOLS,
        code=code_of("pages.py"),
    script:
        "../scripts/pages.py"
