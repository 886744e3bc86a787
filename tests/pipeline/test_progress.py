"""One line per finished part of a run, with the remaining time."""

from __future__ import annotations

import io
import logging
from types import SimpleNamespace

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter, LogEvent
from snakemake.settings.enums import Quietness

from shuffledp.pipeline.progress import Progress, seconds_before, show

SHOWN_NOT = {Quietness.RULES, Quietness.HOST, Quietness.REASON}  # as in profiles/default


def terminal(before, storage=""):
    """Return a logger like Snakemake's, its output, and a clock that the test sets."""
    stream, clock = io.StringIO(), SimpleNamespace(now=100.0)
    handler = ColorizingTextHandler(
        True, stream, DefaultFormatter(SHOWN_NOT, True), DefaultFilter(SHOWN_NOT, False, False, False, False)
    )
    handler.name = "DefaultStreamHandler"
    logger = logging.Logger("run", logging.INFO)
    logger.addHandler(handler)
    show(logger, Progress(before, (storage, "logs", "results"), lambda: clock.now))
    return logger, stream, clock


def started(logger, job, log, rule="method"):
    logger.info("Select jobs to execute...")
    logger.info("Execute 1 jobs...", extra={"event": LogEvent.JOB_STARTED, "jobs": [job]})
    info = {"event": LogEvent.JOB_INFO, "jobid": job, "rule_name": rule, "log": log}
    logger.info(f" Rule: {rule}", extra=info)


def finished(logger, job, done, total):
    logger.info(f"Finished jobid: {job}", extra={"event": LogEvent.JOB_FINISHED, "job_id": job})
    logger.info(None, extra={"event": LogEvent.PROGRESS, "done": done, "total": total})


def test_a_finished_part_is_one_line_with_its_name_its_time_and_the_time_left():
    logger, stream, clock = terminal({7: 10.0, 8: 30.0, 9: None})
    started(logger, 7, ["logs/results/summation/figure_3/correlated_sum.log"])
    clock.now += 5.0
    finished(logger, 7, 1, 3)
    started(logger, 8, ["logs/dataset/adult.log"])
    clock.now += 100.0
    finished(logger, 8, 2, 3)
    started(logger, 9, [], rule="all")
    finished(logger, 9, 3, 3)
    # The first took half of its 10 seconds, so that 30 and the usual 20 take 25; then 40 took 105.
    assert stream.getvalue().splitlines() == [
        "1 of 3 done, summation/figure_3/correlated_sum 5.0 s, about 20 s left",
        "2 of 3 done, dataset/adult 100.0 s, about 50 s left",
        "3 of 3 done, all 0.0 s",
    ]


def test_a_run_with_a_storage_provider_names_its_parts_alike_and_no_copy_of_a_file():
    logger, stream, _ = terminal({7: 10.0}, "s3://bucket/run")
    started(logger, 7, ["s3://bucket/run/logs/dataset/adult.log (send to storage)"])
    for text in ("Storing in storage: s3://bucket/run/data/prepared/adult.json", "Finished upload."):
        logger.info(text)
    finished(logger, 7, 1, 1)
    assert stream.getvalue().splitlines() == ["1 of 1 done, dataset/adult 0.0 s"]


def test_the_time_left_is_told_in_minutes_where_it_is_long():
    logger, stream, clock = terminal({1: None, 2: None})
    started(logger, 1, ["logs/one.log"])
    clock.now += 150.0
    finished(logger, 1, 1, 2)
    assert stream.getvalue() == "1 of 2 done, one 150.0 s, about 2 min left\n"


def test_what_else_is_printed_stays():
    logger, stream, _ = terminal({})
    logger.error("Job failed")
    logger.info("Job stats")
    assert stream.getvalue().splitlines() == ["Job failed", "Job stats"]


def test_seconds_of_an_earlier_run(tmp_path):
    file = tmp_path / "x.benchmark.tsv"
    assert seconds_before(file) is None
    file.write_text("s\th:m:s\tmax_rss\n2.5\t0:00:02\t80\n")
    assert seconds_before(file) == 2.5
    file.write_text("s\th:m:s\n")
    assert seconds_before(file) is None
