"""Runs that append to results.jsonl, and the pages made from it."""
