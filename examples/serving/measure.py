"""How long a service takes to answer: many requests, one after the other or by several threads at once.

Run with: python measure.py http://127.0.0.1:8000/predict rows.json --requests 1000 --threads 4

Each request holds one of the rows of the file. The end is a line such as "1,000 requests, 0 errors, ...".
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit


def ask(url: str, bodies: list[bytes]) -> tuple[list[float], int]:
    """The seconds that each request took, over one connection, and how many were refused."""
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=30)
    taken, n_errors = [], 0
    for body in bodies:
        start = time.perf_counter()
        connection.request("POST", place.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = json.loads(answer.read())
        taken.append(time.perf_counter() - start)
        n_errors += answer.status != 200 or len(content["predictions"]) != 1
    connection.close()
    return taken, n_errors


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("url")
    words.add_argument("rows", type=Path)
    words.add_argument("--requests", type=int, default=1000)
    words.add_argument("--threads", type=int, default=1)
    given = words.parse_args()

    rows = json.loads(given.rows.read_text(encoding="utf-8"))
    bodies = [json.dumps([rows[n % len(rows)]]).encode() for n in range(given.requests)]
    parts = [bodies[n :: given.threads] for n in range(given.threads)]
    with ThreadPoolExecutor(given.threads) as pool:
        answers = list(pool.map(lambda part: ask(given.url, part), parts))
    taken = sorted(seconds for part, _ in answers for seconds in part)
    middle, late = (1000 * taken[int(share * (len(taken) - 1))] for share in (0.5, 0.99))
    n_errors = sum(errors for _, errors in answers)
    print(
        f"{len(taken):,} requests, {n_errors} errors, median {middle:.1f} ms, 99 of 100 within {late:.1f} ms"
    )


if __name__ == "__main__":
    main()
