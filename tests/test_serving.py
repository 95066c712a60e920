"""The example of a service answers requests of another process, with the predictions of the model."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose

import coterie

SERVING = Path(__file__).parents[1] / "examples" / "serving"
ABSENT = [name for name in ("fastapi", "uvicorn") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(ABSENT), reason=f"not installed: {', '.join(ABSENT)} (coterie[serve])"),
]

FLATS = {
    "area": [f"{40 + n},5" for n in range(120)],
    "town": [("Köln", "Bonn", "Aachen")[n % 3] for n in range(120)],
    "let": [f"{n % 28 + 1:02}.03.2024" for n in range(120)],
}
ROWS = [dict(zip(FLATS, row, strict=True)) for row in zip(*FLATS.values(), strict=True)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """The port of a service of a model file, and the folder of the file."""
    folder = tmp_path_factory.mktemp("serving")
    table = coterie.read_table(FLATS)
    rent = 100 + 9 * table["area"]
    model = coterie.GradientBoostingRegressor(n_estimators=30, random_state=0).fit(table, rent)
    coterie.save(
        model, folder / "flats.coterie", notes={"reading": table.reading.to_json(), "target": "rent"}
    )
    (folder / "rows.json").write_text(json.dumps(ROWS), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port), "--log-level", "warning"]
    service = subprocess.Popen(
        command, cwd=SERVING, env={**os.environ, "COTERIE_MODEL": str(folder / "flats.coterie")}
    )
    try:
        wait_for(port, service)
        yield port, folder
    finally:
        service.terminate()
        service.wait(timeout=30)


def wait_for(port: int, service: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        assert service.poll() is None, "the service ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the service did not start within five minutes")


def post(port: int, rows: Any) -> tuple[int, Any]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(
            "POST", "/predict", json.dumps(rows).encode(), {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize("threads", [1, 4])
def test_a_thousand_requests_of_another_process_have_no_error(threads: int, served: tuple[int, Path]) -> None:
    port, folder = served
    words = [f"http://127.0.0.1:{port}/predict", str(folder / "rows.json"), "--requests", "1000"]
    done = subprocess.run(
        [sys.executable, str(SERVING / "measure.py"), *words, "--threads", str(threads)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1,000 requests, 0 errors")


def test_strings_are_read_as_in_the_fit(served: tuple[int, Path]) -> None:
    port, folder = served
    status, answer = post(port, ROWS[:7])

    table = coterie.read_table(FLATS)
    expected = coterie.load(folder / "flats.coterie").predict(table)[:7]
    assert status == 200
    assert_allclose(answer["predictions"], expected)


def test_a_column_that_is_not_given_is_missing(served: tuple[int, Path]) -> None:
    status, answer = post(served[0], [{"area": 50.5}])

    assert status == 200
    assert len(answer["predictions"]) == 1


def test_a_value_that_cannot_be_used_is_an_error_that_names_its_column(served: tuple[int, Path]) -> None:
    status, answer = post(served[0], [{**ROWS[0], "let": "in spring"}])

    assert status == 422
    assert "let" in answer["detail"]
    assert "in spring" in answer["detail"]
