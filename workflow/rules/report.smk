# The page with every figure and table.


rule pages:
    """One page that shows everything, readable offline."""
    input:
        [drawn_files(paper) for paper in SETTINGS.papers.values()],
        HEADLINES,
    output:
        f"{RESULTS}/index.html",
    log:
        f"{LOGS}/{RESULTS}/pages.log",
    benchmark:
        f"{LOGS}/{RESULTS}/pages.benchmark.tsv"
    params:
        papers=list(SETTINGS.papers),
        code=code_of("pages.py"),
    script:
        "../scripts/pages.py"
