"""What two entities are compared by: names, relations and literals as vectors and contradictions."""
