# The only rule without the library: it fails with the command that installs the library.


rule all:
    log:
        "logs/library_missing.txt",
    conda:
        "../envs/run.yaml"
    shell:
        "echo \"The library is not installed. In this folder, run: pip install '.[pipeline]'\" | tee {log}; exit 1"
