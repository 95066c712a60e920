"""MLflow: models of coterie in runs, registries and services of MLflow, as our own model files and without pickle.

`save_model`, `log_model` and `load_model` are those of any flavour of MLflow. What is written is a folder with
`MLmodel`, a model file of coterie, and three texts that name the packages it needs. `mlflow.pyfunc.load_model` and
everything built on it (`mlflow models serve`, batch jobs, registries) read the same folder.
"""

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from coterie._optional import need
from coterie._params import in_short
from coterie.errors import InvalidInput, InvalidParameter
from coterie.files import load, save

__all__ = ["FLAVOR_NAME", "load_model", "log_model", "save_model"]

FLAVOR_NAME = "coterie"
_FILE = "model.coterie"
_METHODS = ("predict", "predict_proba", "decision_function", "predict_interval", "predict_set")
_NEEDED = ("coterie", "numpy", "scikit-learn")  # besides MLflow itself


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pyfunc_method: str = "predict",
    metadata: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
    pip_requirements: Sequence[str] | None = None,
) -> None:
    """Write a model as a folder that MLflow reads.

    Parameters
    ----------
    model : a fitted model of coterie, or anything that `coterie.save` takes
    path : str or path, of a folder that is not there yet or is empty
    mlflow_model : mlflow.models.Model or None
        What is said about the model. Default None: a new one; MLflow gives its own when a model is logged.
    signature : mlflow.models.ModelSignature or None
        What goes in and comes out. Default None: that of `input_example` and what the model predicts for it.
    input_example : a table of a few rows, or None
        Default None: rows may be private, and are stored only if you give them.
    pyfunc_method : {"predict", "predict_proba", "decision_function", "predict_interval", "predict_set"}
        Which method answers where MLflow calls `predict`. Default "predict": every model has it.
    metadata : dict or None, kept in `MLmodel`
        Default None: nothing to add.
    notes : dict of str or None, kept in the model file
        Default None: nothing to add.
    pip_requirements : list of str or None
        What has to be installed where the model is loaded. Default None: the versions of coterie, mlflow, numpy and
        scikit-learn that are installed here, because with them the model is known to work.

    Examples
    --------
    >>> import coterie.mlflow
    >>> coterie.mlflow.save_model(model, "rents")  # doctest: +SKIP
    >>> bool((coterie.mlflow.load_model("rents").predict(X) == model.predict(X)).all())  # doctest: +SKIP
    True
    """
    mlflow = _need_mlflow("coterie.mlflow.save_model")
    _check_method(model, pyfunc_method)
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput.expecting(
            f"The folder {str(folder)!r} holds files", "a folder that is not there or is empty", "path", path
        )
    folder.mkdir(parents=True, exist_ok=True)
    about = mlflow.models.Model() if mlflow_model is None else mlflow_model
    if signature is None and input_example is not None:
        predicted = getattr(model, pyfunc_method)(input_example)
        signature = mlflow.models.infer_signature(input_example, predicted)
    if signature is not None:
        about.signature = signature
    if metadata is not None:
        about.metadata = dict(metadata)
    save(model, folder / _FILE, notes=notes)
    needed = list(pip_requirements) if pip_requirements is not None else _requirements()
    _write_environment(folder, needed)
    environment = {"conda_env": "conda.yaml", "python_env": "python_env.yaml"}
    mlflow.pyfunc.add_to_model(about, loader_module="coterie.mlflow", **environment)
    about.add_flavor(
        FLAVOR_NAME,
        data=_FILE,
        model_class=type(model).__name__,
        coterie_version=version("coterie"),
        pyfunc_method=pyfunc_method,
    )
    about.save(str(folder / "MLmodel"))


def log_model(
    model: Any, name: str = "model", *, registered_model_name: str | None = None, **options: Any
) -> Any:
    """Write a model into the run of MLflow that is active, or into a new one.

    Parameters
    ----------
    model : a fitted model of coterie
    name : str, under which the run keeps it
        Default "model": most runs have one.
    registered_model_name : str or None, under which the registry gets a new version of it
        Default None: a run is an experiment, and few experiments are released.
    options : those of `save_model`, and what `mlflow.models.Model.log` takes

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its `model_uri` is for `load_model`.

    Examples
    --------
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = coterie.mlflow.log_model(model, "rents", registered_model_name="rents")
    """
    mlflow = _need_mlflow("coterie.mlflow.log_model")
    _check_method(model, options.get("pyfunc_method", "predict"))
    return mlflow.models.Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        model=model,
        registered_model_name=registered_model_name,
        **options,
    )


def load_model(
    model_uri: str | os.PathLike[str], *, dst_path: str | None = None, trusted: Sequence[str] = ()
) -> Any:
    """The model of a folder, a run or a registry of MLflow, as coterie's own object. Nothing in its file is run.

    Parameters
    ----------
    model_uri : str or path: a folder, "runs:/RUN/model", "models:/NAME/VERSION" and whatever else MLflow understands
    dst_path : str or None, a folder into which remote files are copied
        Default None: a temporary folder.
    trusted : list of str, types of other libraries' members, as in `coterie.load`
        Default (): nobody else's code is run unless you name it.

    Examples
    --------
    >>> coterie.mlflow.load_model("models:/rents/1").predict_interval(X[:3]).shape  # doctest: +SKIP
    (3, 2)
    """
    mlflow = _need_mlflow("coterie.mlflow.load_model")
    folder = mlflow.artifacts.download_artifacts(artifact_uri=os.fspath(model_uri), dst_path=dst_path)
    return load(Path(folder) / _flavor_of(mlflow, folder)["data"], trusted=trusted)


def _load_pyfunc(path: str) -> "_PyfuncModel":
    """What `mlflow.pyfunc.load_model` calls, with the folder of a model."""
    flavor = _flavor_of(_need_mlflow("Loading a model by mlflow.pyfunc"), path)
    return _PyfuncModel(load(Path(path) / flavor["data"]), flavor["pyfunc_method"])


class _PyfuncModel:
    """A model behind the one method that MLflow calls."""

    def __init__(self, model: Any, method: str) -> None:
        self.model = model
        self.method = method

    def get_raw_model(self) -> Any:
        """The model itself, which `unwrap_python_model` of MLflow's wrapper returns."""
        return self.model

    def predict(self, data: Any, params: Mapping[str, Any] | None = None) -> Any:
        """What the method of the model says of a table; `params` are those of the signature."""
        return getattr(self.model, self.method)(data, **(params or {}))


def _need_mlflow(purpose: str) -> ModuleType:
    mlflow = need("mlflow", purpose=purpose, extra="mlflow")
    for part in ("artifacts", "models", "pyfunc"):
        need(f"mlflow.{part}", purpose=purpose, extra="mlflow")
    return mlflow


def _check_method(model: Any, method: Any) -> None:
    if method not in _METHODS:
        raise InvalidParameter.expecting(
            f"pyfunc_method={in_short(method)}", f"one of {', '.join(_METHODS)}", "pyfunc_method", method
        )
    if not hasattr(model, method):
        has = ", ".join(name for name in _METHODS if hasattr(model, name))
        what = f"{type(model).__name__} has no {method}"
        raise InvalidParameter.expecting(what, f"a method that it has: {has}", "pyfunc_method", method)


def _flavor_of(mlflow: Any, folder: str) -> dict[str, str]:
    """What `MLmodel` says about the file; names that lead out of the folder and unknown methods are refused."""
    about = mlflow.models.Model.load(folder)
    flavor = about.flavors.get(FLAVOR_NAME)
    if flavor is None:
        raise InvalidInput(
            f"The folder {str(folder)!r} holds a model of {', '.join(sorted(about.flavors)) or 'no flavour'}.",
            parameter="model_uri",
            received=sorted(about.flavors),
            allowed="a model that coterie.mlflow wrote",
            hint="Load it with the flavour that wrote it, or with mlflow.pyfunc.load_model.",
        )
    data, method = str(flavor.get("data", _FILE)), str(flavor.get("pyfunc_method", "predict"))
    if Path(data).name != data or data in ("", ".", ".."):
        raise InvalidInput.expecting(
            f"MLmodel names the file {data!r}", "a file in its own folder", "model_uri", data
        )
    if method not in _METHODS:
        raise InvalidInput.expecting(
            f"MLmodel names the method {method!r}", f"one of {', '.join(_METHODS)}", "model_uri", method
        )
    return {"data": data, "pyfunc_method": method}


def _requirements() -> list[str]:
    mlflow = "mlflow-skinny" if _is_installed("mlflow-skinny") and not _is_installed("mlflow") else "mlflow"
    return [f"{name}=={version(name)}" for name in (mlflow, *_NEEDED)]


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except ImportError:
        return False
    return True


def _write_environment(folder: Path, needed: list[str]) -> None:
    """The three files in which MLflow looks for what a model needs."""
    texts = {
        "requirements.txt": [*needed],
        "python_env.yaml": [
            f"python: {platform.python_version()}",
            "build_dependencies:",
            "- pip",
            "dependencies:",
            "- -r requirements.txt",
        ],
        "conda.yaml": [
            "name: mlflow-env",
            "channels:",
            "- conda-forge",
            "dependencies:",
            f"- python={platform.python_version()}",
            "- pip",
            "- pip:",
            *(f'  - "{each}"' for each in needed),
        ],
    }
    for name, lines in texts.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
