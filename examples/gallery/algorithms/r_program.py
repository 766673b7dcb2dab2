"""
A model in R
============

The algorithm need not be written in Python. :class:`poise.Program` runs any command: it hands
over rows and reads numbers. Here R fits a curve, in a process that serves all fits.
"""

# %%
# The program reads one request per line and answers with one line. It needs R and its package
# ``jsonlite``. The model is a local regression (``loess``) of the response on the first column.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poise

PROGRAM = """
requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  request <- jsonlite::fromJSON(line)
  train <- list2DF(request$train)
  model <- loess(y ~ x1, train, span = SPAN, control = loess.control(surface = "direct"))
  numbers <- sprintf("%.17g", predict(model, list2DF(request$test)))
  cat(sprintf('{"id":%d,"predictions":[%s]}\\n', request$id, paste(numbers, collapse = ",")))
  flush(stdout())
}
"""


def local_regression(span):
    """Write the program with this span to a file, and return it as an algorithm."""
    script = Path(tempfile.mkdtemp()) / "loess.R"
    script.write_text(PROGRAM.replace("SPAN", str(span)), encoding="utf-8")
    return poise.Program(["Rscript", "--vanilla", str(script)], mode="serving", name=f"span {span}")


# %%
# The span is the share of the rows that each local line uses. A small span follows the data
# closely, and depends on single rows.
rng = np.random.default_rng(0)
X = rng.uniform(0, 6, size=(1000, 1))
y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=1000)
models = [local_regression(span) for span in (0.4, 0.75, 1.5)]
compared = poise.compare(models, X, y, n=30, epsilon=0.1, delta=0.2, random_state=0)
print(compared)

# %%
figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
compared.plot(ax=axes)
plt.show()

# %%
# Julia, awk, a compiled binary or a service are tested in the same way: :doc:`/programs`.
