"""Why links were found: evidence, explanations in words, a diagnosis where few links were found, and the report page."""
