# Count every file of a folder in a separate job, and add the counts:
#
#   snakemake --snakefile docs/guides/count_parts.smk --cores all --directory counts \
#     --config data=/path/to/visits options="--column color --values red,green,blue"
#
# The result is counts/all.json, for `shuffledp compare --counts`. Counts are raw data. Users must not have rows in
# several files. On a cluster, add the profile of the cluster (docs/guides/cluster.md).
from pathlib import Path

FILES = sorted(path.name for path in Path(config["data"]).glob("*.*"))


rule all:
    input:
        "all.json",


rule merge:
    input:
        expand("parts/{file}.json", file=FILES),
    output:
        "all.json",
    shell:
        "shuffledp merge {input:q} -o {output:q}"


rule count:
    input:
        f"{config['data']}/{{file}}",
    output:
        "parts/{file}.json",
    shell:
        "shuffledp count {input:q} {config[options]} -o {output:q}"
