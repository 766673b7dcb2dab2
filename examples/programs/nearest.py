"""Serving: the response of the nearest training row, in plain Python.

python nearest.py
"""

import json
import sys


def predict(train, test, response):
    """Return the response of the training row nearest to each test row."""
    responses = train.pop(response)
    rows = list(zip(*train.values(), strict=True))
    return [
        responses[min(range(len(rows)), key=lambda i: squared_distance(rows[i], point))]
        for point in zip(*test.values(), strict=True)
    ]


def squared_distance(a, b):
    """Return the squared Euclidean distance between two rows."""
    return sum((s - t) ** 2 for s, t in zip(a, b, strict=True))


# Answers go to the real standard output; whatever else prints goes to standard error.
answers, sys.stdout = sys.stdout, sys.stderr
for line in sys.stdin:
    request = json.loads(line)
    try:
        found = predict(request["train"], request["test"], request["response"])
        reply = {"id": request["id"], "predictions": found}
    except Exception as error:
        reply = {"id": request["id"], "error": repr(error)}
    print(json.dumps(reply), file=answers, flush=True)
