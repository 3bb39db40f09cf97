"""Scripts that add lines to results.jsonl, and the generated graphs that some of them use."""
