"""What kgalign serves to a browser, by name. A service is loaded when it is used, and says which extra is missing."""

from kgalign.registry import Registry

SERVICES = Registry(
    "service",
    "kgalign.services",
    {"review": "kgalign.serve.opening:open_review"},
    extras={"starlette": "web", "uvicorn": "web", "h11": "web"},
)
