"""How a stack looks to scikit-learn: its tags, its routing, its drawing, and what may be its final estimator."""

from typing import Any, ClassVar

from sklearn.base import TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from coterie._params import EstimatorLike
from coterie._typing import Task
from coterie.errors import InvalidParameter
from coterie.members.named_members import NamedMembers

__all__ = ["StackFace"]


class StackFace(TransformerMixin, NamedMembers):
    """Named members under a final estimator."""

    _task: ClassVar[Task]

    final_estimator: Any
    passthrough: Any

    def _final(self) -> Any:
        """The final estimator that `fit` is to fit a copy of, after checking that it is of the right kind."""
        final = self._default_final() if self.final_estimator is None else self.final_estimator
        if not self._fits(final):
            kind = "classifier" if self._task == "classification" else "regressor"
            raise InvalidParameter(
                f"'final_estimator' parameter should be a {kind}. Got {type(final).__name__}."
            )
        return final

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: `fit` of members and of the final estimator, and `split` of the splitter."""
        router = self._router()
        final = self.__dict__.get("final_estimator_", self._default_final())
        final = final if self.final_estimator is None else self.final_estimator
        mapping = MethodMapping().add(caller="predict", callee="predict").add(caller="fit", callee="fit")
        router.add(final_estimator_=final, method_mapping=mapping)
        self._route_splitter(router)
        return router

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        names, learners = zip(*self._pairs, strict=True)
        final = self._default_final() if self.final_estimator is None else self.final_estimator
        members = _VisualBlock("parallel", learners, names=names, dash_wrapped=False)
        above = _VisualBlock("parallel", [final], names=["final_estimator"], dash_wrapped=False)
        return _VisualBlock("serial", (members, above), dash_wrapped=False)

    def _with_final(self, answer: Any) -> bool:
        """Whether something holds for the tags of every member and of the final estimator."""
        final = self._default_final() if self.final_estimator is None else self.final_estimator
        return self._all_members(answer) and bool(answer(get_tags(final)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        if self.passthrough is not False and EstimatorLike().accepts(
            self.final_estimator or self._default_final()
        ):
            for name in ("allow_nan", "sparse", "categorical", "string"):
                setattr(
                    tags.input_tags,
                    name,
                    self._with_final(lambda own, name=name: getattr(own.input_tags, name)),
                )
        return tags

    def _route_splitter(self, router: MetadataRouter) -> None:
        """Blending has no splitter."""

    def _wanted_method(self) -> str:
        return "predict"

    def _default_final(self) -> Any:
        raise AssertionError("stacks of classes and of numbers each say what is final")

    def _fits(self, final: Any) -> bool:
        raise AssertionError("stacks of classes and of numbers each say what is final")
