"""shuffledp: `snakemake --cores all` regenerates every figure and table in results/."""

from pathlib import Path

from snakemake.utils import min_version

min_version("9.11")


configfile: Path(workflow.basedir) / "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/report.smk"


report: "workflow/report/workflow.rst"


wildcard_constraints:
    paper="[a-z0-9_]+",
    experiment="[a-z0-9_]+",
    method="[a-z0-9_]+",
    dataset="[a-z]+",
    claim="[a-z0-9_]+",
    share="[a-z_]+",
    run="[a-z0-9_]+",
    key="file_[0-9a-f]+",


localrules:
    all,
    runs,


# Everything: figures and tables of all papers, and the page that shows them.
rule all:
    default_target: True
    input:
        f"{RESULTS}/index.html",
        [drawn_files(paper) for paper in SETTINGS.papers.values()],
        [computed_files(paper) for paper in SETTINGS.papers.values()],
        CLAIMS,
        HEADLINES,
        AUDIT,


# The results alone, which is what a comparison with the reference needs.
rule runs:
    input:
        [results_of(paper) for paper in SETTINGS.papers.values()],


onstart:
    lock_this_folder()
    main_process.announce(Path(".snakemake/shuffledp.alive"))
    main_process.once(signal.SIGTERM)
    say_what_is_left_out()


onsuccess:
    say_what_data_were_used()
    print(f"Figures and tables are in {RESULTS}/.", file=sys.stderr)
