"""An ONNX graph while it is written: nodes in order, and constants with names."""

from types import ModuleType
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import AnyArray

OPSET = 18
ML_OPSET = 5
_IR_VERSION = 9


def need_onnx() -> ModuleType:
    """The package onnx, or how to get it."""
    return need("onnx", purpose="Writing an ONNX model", extra="export")


class Graph:
    """Adds nodes; each call takes the names that go in and gives the name that comes out."""

    def __init__(self, name: str) -> None:
        self._onnx = need_onnx()
        self._name = name
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], Any], str] = {}
        self._initializers: list[Any] = []
        self._taken: set[str] = set()

    def input(self, name: str, kind: Any, n_columns: int) -> str:
        """A tensor with a row for each row of the table."""
        self._taken.add(name)
        self._inputs.append(
            self._onnx.helper.make_tensor_value_info(name, _type(self._onnx, kind), ["n", n_columns])
        )
        return name

    def output(self, name: str, source: str, kind: Any, n_columns: int | None) -> None:
        """What the model predicts; `n_columns` is None for an array with one number a row."""
        name = self._free(name)
        self._taken.add(name)
        shape = ["n"] if n_columns is None else ["n", n_columns]
        self._nodes.append(self._onnx.helper.make_node("Identity", [source], [name]))
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, _type(self._onnx, kind), shape))

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Numbers or text that never change; equal ones are kept once."""
        array = np.asarray(values, dtype=dtype)
        key = (
            array.dtype.str,
            array.shape,
            tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes(),
        )
        if key not in self._constants:
            name = self._free(f"/constant_{len(self._constants)}")
            self._constants[key] = name
            self._initializers.append(_tensor(self._onnx, array, name))
        return self._constants[key]

    def add(self, operator: str, *sources: str, ml: bool = False, **attributes: Any) -> str:
        """A node with one output; arrays among the attributes become tensors."""
        name = self._free(f"/{operator}_{len(self._nodes)}")
        given = {
            key: _tensor(self._onnx, value, key) if isinstance(value, np.ndarray) else value
            for key, value in attributes.items()
        }
        domain = "ai.onnx.ml" if ml else ""
        self._nodes.append(
            self._onnx.helper.make_node(operator, list(sources), [name], name=name, domain=domain, **given)
        )
        return name

    def add_several(self, operator: str, sources: list[str], targets: list[str], **attributes: Any) -> None:
        """A node with several outputs, whose names are given."""
        self._nodes.append(
            self._onnx.helper.make_node(operator, sources, targets, name=targets[0], **attributes)
        )

    def cast(self, source: str, kind: Any) -> str:
        return self.add("Cast", source, to=_type(self._onnx, kind))

    def _free(self, name: str) -> str:
        """The name, or a longer one if a column of the table has it."""
        while name in self._taken:
            name += "_"
        return name

    def finish(self, *, producer: str, version: str) -> Any:
        """The model, checked."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._initializers)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
            ir_version=_IR_VERSION,
            producer_name=producer,
            producer_version=version,
        )
        self._onnx.checker.check_model(model)
        return model


def _type(onnx: ModuleType, kind: Any) -> int:
    if kind is str:
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def _tensor(onnx: ModuleType, array: AnyArray, name: str) -> Any:
    if array.dtype == object:
        data = [str(each).encode() for each in array.ravel()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, list(array.shape), data)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
