"""Names for everything that can be chosen: the built-in parts of kgalign, and those that installed packages add by entry points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from kgalign.errors import OptionError


class Registry(Mapping[str, Any]):
    """Things of one kind by name. Looking a name up imports its module, and not before.

    Args:
        kind: What the things are called in messages, such as `model`.
        group: The group of entry points under which installed packages add their own. A name of kgalign itself cannot be replaced.
        built_in: The place of each built-in thing, as `module:attribute`.
        aliases: Other names for some of them.
    """

    def __init__(self, kind: str, group: str, built_in: Mapping[str, str], aliases: Mapping[str, str] | None = None) -> None:
        self.kind, self.group, self.built_in, self.aliases = kind, group, dict(built_in), dict(aliases or {})

    def __getitem__(self, name: str) -> Any:
        name = self.check(name)
        try:
            if name in self.built_in:
                module, _, attribute = self.built_in[name].partition(":")
                return getattr(import_module(module), attribute)
            return self._added[name].load()
        except ImportError as error:
            if name in self.built_in and error.name not in ("torch", "safetensors"):
                raise
            hint = "pip install 'kgalign[neural]'" if error.name in ("torch", "safetensors") else "is it installed?"
            raise OptionError(f"the {self.kind} {name} needs {error.name}: {hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter([*self.built_in, *self._added])

    def __len__(self) -> int:
        return len(self.built_in) + len(self._added)

    def __contains__(self, name: object) -> bool:
        return name in self.aliases or name in self.built_in or name in self._added

    def check(self, name: str) -> str:
        """The registered name that a name or an alias stands for; an unknown one is refused with the names that would have worked."""
        if name not in self:
            raise OptionError(f"unknown {self.kind} {name!r}: expected one of {', '.join([*self, *self.aliases])}")
        return self.aliases.get(name, name)

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        """What installed packages add, by name."""
        return {point.name: point for point in entry_points(group=self.group) if point.name not in self.built_in}
