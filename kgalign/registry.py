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
        extras: The extra of kgalign that brings a package which some built-in things need, by the name of that package.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        extras: Mapping[str, str] | None = None,
    ) -> None:
        self.kind, self.group, self.built_in = kind, group, dict(built_in)
        self.aliases, self.extras = dict(aliases or {}), dict(extras or {})

    def __getitem__(self, name: str) -> Any:
        name = self.check(name)
        if name not in self.built_in:
            return self._load_added(name)
        module, _, attribute = self.built_in[name].partition(":")
        try:
            return getattr(import_module(module), attribute)
        except ImportError as error:
            package = (error.name or "").partition(".")[0]
            if package not in self.extras:
                raise
            raise OptionError(f"the {self.kind} {name} needs {package}: pip install 'kgalign[{self.extras[package]}]'") from None

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

    def _load_added(self, name: str) -> Any:
        """The thing that an installed package adds under that name. A package that is broken is named."""
        point = self._added[name]
        try:
            return point.load()
        except Exception as error:  # the code of a stranger may raise anything
            package = point.dist.name if point.dist else point.value
            reason = f"{type(error).__name__}: {error}"
            raise OptionError(
                f"the {self.kind} {name} of the package {package} cannot be loaded ({reason}): repair or remove it"
            ) from error

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        """The entry points of installed packages, by name."""
        taken = {*self.built_in, *self.aliases}
        return {point.name: point for point in entry_points(group=self.group) if point.name not in taken}
