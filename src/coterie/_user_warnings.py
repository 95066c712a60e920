"""Warnings that point to the line of the user, through however many of our functions it led."""

import sys
import warnings
from types import FrameType

_BETWEEN = ("sklearn", "joblib", "contextlib")  # which may call us on behalf of a user


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, as from the line that called coterie."""
    warnings.warn(message, category, stacklevel=_level_of_user(sys._getframe(1)))


def _level_of_user(frame: FrameType) -> int:
    """How many frames the user's is away; the last one if there is no frame of a user, as in a thread."""
    level, place = 2, frame
    while place.f_back is not None and _is_between(place):
        place = place.f_back
        level += 1
    return level


def _is_between(frame: FrameType) -> bool:
    """Whether this is a function of ours, or of a library that calls us."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package == "coterie" or package in _BETWEEN
