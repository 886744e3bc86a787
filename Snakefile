"""shuffledp: `snakemake --cores all` regenerates every figure and table in results/."""

from importlib.util import find_spec

# Catalogs read the workflow with Snakemake alone.
if all(map(find_spec, ("shuffledp", "filelock"))):

    include: "workflow/Snakefile"

    localrules:
        default,

    # Snakemake takes no default target from an included file.
    rule default:
        input:
            rules.all.input,

else:

    # The only rule without the library: it fails with the command that installs the library.
    rule all:
        log:
            "logs/library_missing.txt",
        conda:
            "workflow/envs/run.yaml"
        shell:
            "echo \"The library is not installed. In this folder, run: pip install '.[pipeline]'\" | tee {log}; exit 1"
