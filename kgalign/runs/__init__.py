"""Runs, and the one place that knows what a run folder looks like: its files and columns, for writing and for reading."""

from kgalign.runs.fingerprint import task_hashes, value_hash
from kgalign.runs.folder import check_free, links_file, write_run
from kgalign.runs.inputs import file_hashes, files_at, input_places, is_part
from kgalign.runs.kept import LONG, KeptRounds, forget_rounds, run_key
from kgalign.runs.links import Link, Links
from kgalign.runs.reading import check_inputs, read_explanations, read_judged, read_links, read_task
from kgalign.runs.report import read_report
from kgalign.runs.run import Run, peak_mb

__all__ = [
    "LONG",
    "KeptRounds",
    "Link",
    "Links",
    "Run",
    "check_free",
    "check_inputs",
    "file_hashes",
    "files_at",
    "input_places",
    "is_part",
    "forget_rounds",
    "links_file",
    "peak_mb",
    "read_explanations",
    "read_judged",
    "read_links",
    "read_report",
    "read_task",
    "run_key",
    "task_hashes",
    "value_hash",
    "write_run",
]
