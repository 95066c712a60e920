"""A model of coterie leaves Python: onnxruntime gives the same answers, with text and missing values as they are."""

from importlib.util import find_spec

import numpy as np

from coterie import GradientBoostingClassifier
from coterie.datasets import make_messy
from coterie.export import to_onnx


def main() -> None:
    if not (find_spec("onnx") and find_spec("onnxruntime")):
        print("This example needs two more packages: pip install 'coterie[export]' onnxruntime")
        return
    import onnxruntime

    X, y = make_messy(1000)
    X = {name: X[name] for name in ("area", "rooms", "income", "town", "condition")}
    model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    exported = to_onnx(model)
    print(f"{len(exported.SerializeToString()) / 1024:.0f} KiB, {len(exported.graph.node)} nodes")

    session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = {}
    for each in session.get_inputs():
        values = X[each.name]
        if (
            each.type == "tensor(string)"
        ):  # ONNX has no missing text: any text that fit did not see is missing
            values = np.array(["" if value is None else value for value in values], dtype=object)
        else:
            values = values.astype(np.float64)
        rows[each.name] = values.reshape(-1, 1)
        print(f"  {each.name}: {each.type}")
    labels, probabilities = session.run(None, rows)
    gap = np.abs(probabilities - model.predict_proba(X)).max()
    same = bool((labels == model.predict(X)).all())
    print(f"The same labels: {same}; probabilities differ by at most {gap:.0e}")


if __name__ == "__main__":
    main()
