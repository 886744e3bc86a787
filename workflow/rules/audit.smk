# The audit: comparison of the claims of every registered protocol with results that do not use the accounting.


rule audit_share:
    """Audit the protocols of one family; a row per claim."""
    output:
        table=f"{RESULTS}/claims/audit/{{share}}.csv",
        checksum=f"{RESULTS}/claims/audit/{{share}}.sha256",
    log:
        f"{LOGS}/{RESULTS}/audit/{{share}}.log",
    conda:
        "../envs/run.yaml"
    params:
        job=audit_job,
        code=CODE.keys("audit"),
    script:
        "../scripts/audit.py"


rule audit:
    """Join all rows into one table; fail if a claim labeled as proven is violated."""
    input:
        tables=[table for table, _ in audit_tables()],
        checksums=[checksum for _, checksum in audit_tables()],
    output:
        table=AUDIT[0],
        checksum=AUDIT[1],
    log:
        f"{LOGS}/{RESULTS}/audit.log",
    conda:
        "../envs/run.yaml"
    params:
        code=CODE.keys("audit"),
    script:
        "../scripts/audit_together.py"


ruleorder: audit_share > verdicts
