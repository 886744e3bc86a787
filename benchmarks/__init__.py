"""Benchmarks of asv, one file per package: ``make -C tools benchmarks``; docs/benchmarks.md explains the results."""
