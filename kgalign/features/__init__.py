"""The features that entities are compared by: names, relations, literals, and contradictions between them."""
