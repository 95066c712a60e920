"""How a stack looks to scikit-learn: its tags, its routing and its drawing."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from coterie._params import EstimatorLike
from coterie._sklearn import parallel_block, serial_block


def add_final_to_router(router: MetadataRouter, final: Any) -> None:
    """Let the final estimator be given what its `fit` and its `predict` request."""
    mapping = MethodMapping().add(caller="predict", callee="predict").add(caller="fit", callee="fit")
    router.add(final_estimator_=final, method_mapping=mapping)


def stack_block(pairs: Any, final: Any) -> Any:
    """The members side by side, and the final estimator under them."""
    names, learners = zip(*pairs, strict=True)
    members = parallel_block(learners, names, dash_wrapped=False)
    return serial_block(
        (members, parallel_block([final], ["final_estimator"], dash_wrapped=False)), dash_wrapped=False
    )


def set_stack_tags(tags: Any, *, passthrough: Any, final: Any, with_final: Callable[[Any], bool]) -> None:
    """If the final estimator sees columns of the table, the stack takes the tables that it and all members take."""
    tags.transformer_tags.preserves_dtype = []
    if passthrough is False or not EstimatorLike().accepts(final):
        return
    for name in ("allow_nan", "sparse", "categorical", "string"):
        setattr(tags.input_tags, name, with_final(lambda own, name=name: getattr(own.input_tags, name)))
