"""Runs, and the one place that knows what the folder of a run looks like."""

from kgalign.runs.folder import check_free, write_run
from kgalign.runs.run import Run, peak_mb

__all__ = ["Run", "check_free", "peak_mb", "write_run"]
