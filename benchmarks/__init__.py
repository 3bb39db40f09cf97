"""How our own page of results is made: `measure` adds lines to results.jsonl, `page` makes docs/results.md from them. See README.md."""
