"""Runs, and the one place that knows what a run folder looks like: its files and columns, for writing and for reading."""

from kgalign.runs.folder import check_free, links_file, write_run
from kgalign.runs.inputs import file_hashes, files_at, input_places, is_part
from kgalign.runs.links import Link, Links
from kgalign.runs.reading import check_inputs, read_explanations, read_judged, read_links, read_task
from kgalign.runs.report import read_report
from kgalign.runs.run import Run, peak_mb

__all__ = [
    "Link",
    "Links",
    "Run",
    "check_free",
    "check_inputs",
    "file_hashes",
    "files_at",
    "input_places",
    "is_part",
    "links_file",
    "peak_mb",
    "read_explanations",
    "read_judged",
    "read_links",
    "read_report",
    "read_task",
    "write_run",
]
