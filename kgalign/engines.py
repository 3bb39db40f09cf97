"""The engines that searches can work with, by name. An engine is loaded when it is used: see `kgalign.search.engine.Engine`."""

from kgalign.registry import Registry

ENGINES = Registry(
    "engine",
    "kgalign.engines",
    {"local": "kgalign.search.engine:LocalThreads", "ray": "kgalign.search.ray_tasks:RayTasks"},
    extras={"ray": "ray"},
)
