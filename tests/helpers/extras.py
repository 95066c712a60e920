"""The extras of the package that is installed, as its metadata lists them."""

from importlib.metadata import metadata

from packaging.requirements import Requirement

# Those for people who work on coterie; everything else is for those who use it.
OF_CONTRIBUTORS = {"test", "lint", "docs", "release", "all"}
_ABOUT = metadata("coterie")
EXTRAS_OF_USERS = sorted(set(_ABOUT.get_all("Provides-Extra") or []) - OF_CONTRIBUTORS)


def packages_of(extra: str) -> list[str]:
    """The packages that an extra adds."""
    wanted = [Requirement(line) for line in _ABOUT.get_all("Requires-Dist") or []]
    return [each.name for each in wanted if each.marker and _is_of(each, extra) and not _is_of(each, "")]


def _is_of(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})
