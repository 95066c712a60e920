"""A model file as a web service: rows as JSON to /predict, predictions back.

Run with: COTERIE_MODEL=model.coterie python service.py
"""

import os
from typing import Any

import coterie
from coterie.data.inference.reading import TableReading

try:
    import uvicorn
    from fastapi import FastAPI, HTTPException
except ModuleNotFoundError:
    raise SystemExit(
        "This service uses 'fastapi' and 'uvicorn', one of which is not installed. "
        "Install them with: pip install 'coterie[serve]'"
    ) from None

path = os.environ.get("COTERIE_MODEL", "model.coterie")
model = coterie.load(path)
reading = TableReading.of_json(coterie.inspect_file(path).notes.get("reading", "{}"))
app = FastAPI(title=f"{type(model).__name__} of {os.path.basename(path)}")


@app.post("/predict")
def predict(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {name: [row.get(name) for row in rows] for name in model.feature_names_in_}
    try:
        X = coterie.read_table(columns, reading=reading) if reading else columns
        return {"predictions": model.predict(X).tolist()}
    except coterie.errors.CoterieError as error:
        raise HTTPException(422, str(error)) from error


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=8000)
