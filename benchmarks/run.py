"""How fast and how large: our attention beside PyTorch, JAX and the textbook formula. `make bench` runs this.

    python benchmarks/run.py [--n 256 1024] [--dtypes float32] [--threads 1] [--seconds 4]

All contenders of a row are measured in turn, in one process, after a warm-up; a row shows the median over the rounds
of *their time / our Flash's time in the same round*, so that a slow moment of the machine hits both. With one thread
the time is the processor's, which other programs hardly disturb; with more it is the wall clock's. Peak memory is that
of one call in a process of its own: NumPy's arrays to the byte, the peers by the growth of the process. The table goes
to benchmarks/results.md; rows that this machine measured before with the same versions stay in it.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from contenders import HEADS, REFERENCE, TITLES, D, taking_part
from report import line, machine, report

HERE = Path(__file__).resolve().parent
LONG = [512, 1024, 2048, 4096, 8192, 16384]  # for the memory that Flash takes beyond its results


def main():
    options = arguments()
    rows, beyond = rows_so_far()
    for n in LONG:
        row = {"threads": 1, "dtype": "float32", "n": n, "passes": "forward"}
        beyond[n] = measure("memory", row, contender=REFERENCE) - HEADS * n * (4 * D + 8)  # out and logsumexp
        save(rows, beyond)
    for threads in options.threads:
        for dtype in options.dtypes:
            for n in options.n:
                for passes in options.passes:
                    row = {"threads": threads, "dtype": dtype, "n": n, "passes": passes}
                    row |= measure("time", row, spend=options.seconds) | {"bytes": memory_of_all(row)}
                    rows[threads, dtype, n, passes] = row
                    print(line(row), flush=True)
                    save(rows, beyond)  # after every row: a run takes over an hour, and a part of it is worth keeping
    print(f"\nwritten: benchmarks/results.md and results.json ({len(rows)} rows)")


def arguments():
    parser = argparse.ArgumentParser(description="Measure attention: ours, PyTorch's, JAX's, the textbook's.")
    parser.add_argument("--n", type=int, nargs="+", default=[256, 512, 1024, 2048, 4096, 8192])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"], choices=["float32", "float64"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--passes", nargs="+", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--seconds", type=float, default=4, help="for the rounds of a row (5 or more, or 3 long ones)")
    return parser.parse_args()


def rows_so_far():
    """The rows of earlier runs by what they measure, if this machine made them with these versions."""
    path = HERE / "results.json"
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"machine": {}}
    if {**earlier["machine"], "date": ""} != {**machine(), "date": ""}:
        return {}, {}
    rows = {(row["threads"], row["dtype"], row["n"], row["passes"]): row for row in earlier["rows"]}
    return rows, {int(n): size for n, size in earlier.get("beyond", {}).items()}


def save(rows, beyond):
    rows = [rows[key] for key in sorted(rows, key=lambda key: (*key[:3], list(TITLES).index(key[3])))]
    (HERE / "results.md").write_text(report(rows, beyond), encoding="utf-8")
    content = {"machine": machine(), "beyond": beyond, "rows": rows}
    (HERE / "results.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def memory_of_all(row):
    """The peak memory of each contender, where the table shows it."""
    if row["threads"] > 1 or row["dtype"] != "float32" or row["passes"] not in ("forward", "both"):
        return {}
    names = [name for name in taking_part(row["n"], row["dtype"]) if name != "products alone"]
    return {name: measure("memory", row, contender=name) for name in names}


def measure(what, row, **more):
    """Run measure.py with as many threads as the row says."""
    command = [sys.executable, HERE / "measure.py", json.dumps({"what": what, **row, **more})]
    count = str(row["threads"])
    limits = {name: count for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    # XLA has no setting for its threads; it uses as many as the process may run on.
    pinned = ["taskset", "-c", f"0-{row['threads'] - 1}"] if sys.platform == "linux" else []
    done = subprocess.run(pinned + command, env={**os.environ, **limits}, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
