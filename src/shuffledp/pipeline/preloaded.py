"""Modules of jobs, imported by the process from which jobs are forked (`shuffledp.pipeline.forked_jobs`)."""

import gc

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
