"""Modules of jobs, imported by the process from which jobs are forked (`shuffledp.pipeline.forked_jobs`)."""

import gc

import matplotlib.backends.backend_pdf  # noqa: F401
import pandas as pd  # noqa: F401
import pyarrow.parquet  # noqa: F401
import scipy.fft
import scipy.optimize
import scipy.signal
import scipy.stats  # noqa: F401

import shuffledp.pipeline.experiments.bundle
import shuffledp.pipeline.experiments.runner
import shuffledp.pipeline.figures.paper
import shuffledp.pipeline.provenance  # noqa: F401

gc.freeze()  # a collection in a fork would copy every page of it
# A tenth of the time of a drawing goes into collections at Python's own threshold.
gc.set_threshold(20_000, 10, 10)
