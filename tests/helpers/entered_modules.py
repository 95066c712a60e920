"""Which modules of coterie a call enters, by a profile hook over this thread; the engine has none."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import coterie

PACKAGE = Path(coterie.__file__).parent


def modules_entered(call: Callable[[], object]) -> set[str]:
    """The modules of which functions run during the call, such as "boosting/plan.py"; importing one does not count."""
    files: set[str] = set()

    def hook(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {
        Path(file).relative_to(PACKAGE).as_posix() for file in files if Path(file).is_relative_to(PACKAGE)
    }
