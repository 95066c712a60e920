"""A checkpoint: what a fit has done so far, in a folder, so that a fit that was killed can go on from there.

Words
  part     a file with the rounds, trees or members that are new since the part before; all of them make the checkpoint
  state    a file with what is known after a part and cannot be added up from parts. The last two are kept
  run      the name that the files of one fit share
  about    what the fit is about, see `_fingerprint`. The first part knows it, and another fit cannot go on from here

A fit that goes on does what was done again, from what the parts hold, and then does the rest. As everything that is
drawn follows from the seed, which the first part knows too, it ends with the bits of a fit that was never killed.

Each part is written once, so a fit of n rounds writes n rounds, however often it writes. A part that cannot be read
ends the checkpoint: what was done after it is done again.
"""

import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from coterie._params import Boolean, in_short
from coterie.errors import CoterieError, InvalidInput, InvalidParameter, ModelFileError
from coterie.fitting.checkpoint import Checkpoint, Folder, FoundPart, checkpoint_of, folder_at
from coterie.fitting.fingerprint import differences, digest_of

_STATES = 2


def check_resume(estimator: Any, resume: Any) -> None:
    """Refuse what cannot be resumed, before anything is read."""
    if not Boolean().accepts(resume):
        raise InvalidParameter(f"fit(resume={in_short(resume)}): expected True or False.")
    if resume and estimator.checkpoint is None:
        raise InvalidParameter(
            "fit(resume=True) goes on from a checkpoint, and checkpoint=None. Set checkpoint= to the folder of the fit "
            "that was interrupted."
        )
    if estimator.checkpoint is not None and getattr(estimator, "warm_start", False):
        raise InvalidParameter(
            "checkpoint= cannot be combined with warm_start=True: a fit goes on from its checkpoint or from the last "
            "fit. Set checkpoint=None or warm_start=False."
        )


def open_checkpoint(
    estimator: Any,
    about: Mapping[str, str],
    seed: int,
    *,
    resume: bool,
    learner: Any = None,
    every: int | None = None,
) -> "CheckpointWriter":
    """The checkpoint of a fit whose `checkpoint` is not None, with what is known if the fit goes on.

    `learner` is what members are copies of, to find out now whether they can be stored. `every` is how often to write
    if the user gave a path only.
    """
    settings = checkpoint_of(estimator.checkpoint, every)
    folder = folder_at(settings.path)
    if learner is not None:
        folder.check(learner)
    trusted = [*settings.trusted, *_types_in(estimator)]
    writer = CheckpointWriter(settings, folder, dict(about), seed, trusted)
    if resume:
        writer.read()
    return writer


@contextmanager
def reading_checkpoint() -> Iterator[None]:
    """What a part holds is input: whatever is wrong with it, the error names the checkpoint."""
    try:
        yield
    except ModelFileError:
        raise
    except (CoterieError, AttributeError, LookupError, TypeError, ValueError, RuntimeError) as error:
        raise ModelFileError(f"The checkpoint does not hold what such a fit keeps: {error}.") from error


class CheckpointWriter:
    """Writes what is new when it is time; knows what was written by the fit that this one goes on from.

    Attributes
    ----------
    seed : of the fit, or of the one that it goes on from
    known : what the parts hold, one after the other
    state : what was written beside the last of them
    """

    def __init__(
        self, checkpoint: Checkpoint, folder: Folder, about: dict[str, str], seed: int, trusted: list[str]
    ) -> None:
        self.seed = seed
        self.known: list[Any] = []
        self.state: Any = None
        self._checkpoint = checkpoint
        self._folder = folder
        self._about = about
        self._trusted = trusted
        self._run = secrets.token_hex(4)
        self._old = folder.found()  # are replaced by the first part of this run
        self._collect: Callable[[], tuple[int, Any, Any]] | None = None
        self._written_at = time.monotonic()
        self._n_parts = 0
        self._pending: tuple[int, Any, Any] | None = None  # was collected, and is not written

    # Reading

    def read(self) -> None:
        """Learn what the folder holds, if it is the checkpoint of this fit."""
        runs = sorted({part.run for part in self._old})
        if len(runs) > 1:
            raise InvalidInput(
                f"{self._where} holds the checkpoints of {len(runs)} fits, which wrote to it at the same time. Give "
                "each fit a folder of its own, and empty this one."
            )
        held, why = self._sound_parts()
        if not held:
            self._warn(why, 0)
            return
        first = held[0]
        if not isinstance(first.get("about"), dict) or type(first.get("seed")) is not int:
            raise ModelFileError(f"{self._where}: the first part does not hold what the fit is about.")
        different = differences(first["about"], self._about)
        if different:
            raise InvalidInput(
                f"{self._where} is the checkpoint of another fit: {'; '.join(different)}. Go on with the data, the "
                "parameters and the versions of that fit, choose another folder, or begin anew with resume=False, "
                "which replaces it."
            )
        [self._run], self.seed = runs, first["seed"]
        held, self.state, missing = self._with_state(held)
        self._warn(why or missing, len(held))
        self.known, self._n_parts = [each["content"] for each in held], len(held)
        kept = {(kind, number) for kind in ("part", "state") for number in range(1, len(held) + 1)}
        self._old = [part for part in self._old if (part.kind, part.number) not in kept]

    def _sound_parts(self) -> tuple[list[dict[str, Any]], str | None]:
        """What the parts hold, up to the first that cannot be used, and why it cannot."""
        held: list[dict[str, Any]] = []
        for part in (part for part in self._old if part.kind == "part"):
            try:
                each = self._folder.read(part, self._trusted)
                if part.number != len(held) + 1:
                    raise ModelFileError(f"part {len(held) + 1} is missing.")
                if "content" not in each or each.get("of") != (held[0] if held else each).get("of"):
                    raise ModelFileError(f"part {part.number} belongs to another fit.")
            except (ModelFileError, OSError) as error:
                return held, str(error)
            held.append(each)
        return held, None

    def _with_state(self, held: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Any, str | None]:
        """The parts up to the last whose state can be read, the state, and why it is not that of the last part."""
        why = None
        for number in range(len(held), 0, -1):
            if not held[number - 1].get("has_state"):
                return held[:number], None, why
            try:
                beside = self._folder.read(FoundPart(self._run, number, "state"), self._trusted)
                if beside.get("of") != held[0]["of"] or "state" not in beside:
                    raise ModelFileError(f"state {number} belongs to another fit.")
                return held[:number], beside["state"], why
            except (ModelFileError, OSError) as error:
                why = why or str(error)
        return [], None, why

    def _warn(self, why: str | None, n_sound: int) -> None:
        if why is None:
            return
        rest = f"goes on from part {n_sound}" if n_sound else "begins anew"
        warnings.warn(
            f"{self._where}: a file cannot be used, so the fit {rest}. {why}", UserWarning, stacklevel=2
        )

    # Writing

    def recording(self, collect: Callable[[], tuple[int, Any, Any]]) -> Self:
        """Set how to find out what is new: how much it is, what a part shall hold, and what is to stand beside it.

        The checkpoint is then open, as the context of the loop that it keeps: what is new at the end is written.
        """
        self._collect = collect
        self._written_at = time.monotonic()
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.write()
        except Exception:
            if error is None:
                raise

    def can_keep(self, held: Any) -> bool:
        """Whether a part could hold this, and this fit could read it."""
        return self._folder.can_keep(held, self._trusted)

    def look(self, n_new: int) -> None:
        """Write what is new if it is time."""
        every, seconds = self._checkpoint.every, self._checkpoint.seconds
        late = seconds is not None and time.monotonic() - self._written_at >= seconds
        if n_new and (late or (every is not None and n_new >= every)):
            self.write()

    @property
    def seconds_left(self) -> float | None:
        """Until a part is due; None if time does not matter."""
        seconds = self._checkpoint.seconds
        return None if seconds is None else max(0.0, self._written_at + seconds - time.monotonic())

    @property
    def every(self) -> int | None:
        return self._checkpoint.every

    def write(self) -> None:
        """Write what is new, and before it what could not be written the last time."""
        assert self._collect is not None
        self._written_at = time.monotonic()
        while True:
            if self._pending is None:
                self._pending = self._collect()
            if self._pending[0] > 0:
                try:
                    self._write_part(*self._pending[1:])
                except OSError as error:
                    warnings.warn(
                        f"{self._where}: the checkpoint could not be written, and will be tried again: {error}",
                        UserWarning,
                        stacklevel=2,
                    )
                    return
            done, self._pending = self._pending[0] == 0, None
            if done:
                return

    def _write_part(self, content: Any, state: Any) -> None:
        self._make_room()
        number = self._n_parts + 1
        of = digest_of([self._run, self._about, self.seed])
        held: dict[str, Any] = {"of": of, "content": content, "has_state": state is not None}
        if number == 1:
            held |= {"about": self._about, "seed": self.seed}
        if state is not None:  # first, so that no part is there without
            self._folder.write(FoundPart(self._run, number, "state"), {"of": of, "state": state})
        self._folder.write(FoundPart(self._run, number, "part"), held)
        self._n_parts = number
        if number > _STATES:
            self._folder.remove([FoundPart(self._run, number - _STATES, "state")])

    def _make_room(self) -> None:
        """Remove what this run replaces; refuse to write between the parts of another that is going on."""
        strangers = [part for part in self._folder.found() if part.run != self._run and part not in self._old]
        if strangers:
            raise InvalidInput(
                f"{self._where}: another fit writes its checkpoints here, too. Give each fit a folder of its own; "
                "copies of an estimator, as in cross-validation, have the same folder."
            )
        self._folder.remove(self._old)
        self._old = []

    @property
    def _where(self) -> str:
        return f"checkpoint={in_short(str(self._checkpoint.path))}"


def _types_in(estimator: Any) -> list[str]:
    """The names of the types of all learners that the user gave: what they are made of is trusted."""
    kinds = {
        type(value) for value in estimator.get_params(deep=True).values() if hasattr(value, "get_params")
    }
    return sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
