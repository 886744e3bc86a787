# The site with every figure and table.


rule pages:
    """Write the site, which is readable offline: first page, a page per paper, errata."""
    input:
        [PLAN.list_drawings(paper) for paper in SETTINGS.papers.values()],
        PLAN.overall_drawn,
        CLAIMS,
        HEADLINES,
        AUDIT,
        ASKED,
        kept_file(overall_jobs.KEPT_CLAIMS),
    output:
        [
            f"{RESULTS}/{name}"
            for name in site_files(list(SETTINGS.papers), PLAN.protocols)
        ],
    log:
        f"{LOGS}/{RESULTS}/pages.log",
    conda:
        "../envs/run.yaml"
    params:
        results=results_folder,
        papers=list(SETTINGS.papers),
        protocols=PLAN.protocols,
        questions=bool(ASKED),
        links=SETTINGS.links,
        kept=kept_claims,
        code=CODE.keys("site"),
    script:
        "../scripts/pages.py"
