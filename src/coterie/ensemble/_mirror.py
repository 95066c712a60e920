"""What all classes of the mirror share: parameters that are scikit-learn's, and a name of their own in model files."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar, TypeVar

import numpy as np

from coterie._params import Params
from coterie._sklearn import check_as_theirs
from coterie._storage import registered, registered_name, storable_estimator
from coterie.errors import CoterieError

_Class = TypeVar("_Class", bound=type)


class Mirror:
    """Parameters are stored as they are given, and checked as the class of scikit-learn checks them.

    A class of the mirror comes before ours in the order of bases. What ours takes beside scikit-learn's parameters are
    attributes of the class.
    """

    PARAMS: ClassVar[Params] = {}
    _theirs: ClassVar[type]  # scikit-learn's class of the same name

    def _store(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def _check_parameters(self) -> None:
        own: Any = self
        defaults = signature(type(self)).parameters
        # A default is always right: those of a later scikit-learn than the one that checks may be new to it.
        given = {
            name: value
            for name, value in own.get_params(deep=False).items()
            if value is not defaults[name].default
        }
        check_as_theirs(self._theirs, given, type(self).__name__)
        parent: Any = super()
        parent._check_parameters()


def as_array(y: Any) -> Any:
    """A list as the array that numpy makes of it: of labels of two types, text."""
    return np.asarray(y) if isinstance(y, list) else y


def unequal_weights(sample_weight: Any) -> Any:
    """The weights of rows, or None if each is one: what is summed up with weights is rounded otherwise than without."""
    is_array = isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 1 and sample_weight.size > 0
    return None if is_array and bool((sample_weight == 1).all()) else sample_weight


@contextmanager
def errors_as_they_are() -> Iterator[None]:
    """Raise what the model of somebody else raised, where ours wraps it in an error that says whose it is."""
    try:
        yield
    except CoterieError as error:
        if isinstance(error.__cause__, Exception) and not isinstance(error.__cause__, CoterieError):
            raise error.__cause__ from None
        raise


class MemberSequence:
    """`len(model)`, `model[0]` and iteration are those of `estimators_`, as in scikit-learn."""

    estimators_: Any

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


def mirrors(theirs: type) -> Callable[[_Class], _Class]:
    """A decorator: the class stands for this one of scikit-learn, and files know it as `ensemble.<name>`.

    A model that is read from a file is verified as one of our own class is.
    """

    def register(cls: _Class) -> _Class:
        mirror: Any = cls
        mirror._theirs = theirs
        core = next(base for base in cls.__mro__[1:] if registered_name(base) is not None)
        entry = registered(str(registered_name(core)))
        assert entry is not None
        return storable_estimator(f"ensemble.{cls.__name__}", verify=entry.verify)(cls)

    return register
