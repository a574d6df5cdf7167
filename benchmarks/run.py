"""How fast and how large: our attention beside PyTorch, JAX and the textbook formula. `make bench` runs this.

    python benchmarks/run.py [--n 256 1024] [--inputs trained] [--dtypes float64] [--threads 2] [--seconds 20]

All contenders of a row are measured in turns, in one process, bound to the first cores. A row shows the median over
the rounds of *their time / our Flash's time in the same round* with its 95 % interval; rounds go on until that is
within 3 %, or the seconds are over, and then the row says so. Each shape is measured with scores that stay near zero
and with scores that spread as in a trained model (inputs.py), which take another path through Flash. Peak memory is
that of one call in a process of its own: NumPy's arrays to the byte, the peers by the growth of the process.

The run goes to benchmarks/runs, named after processor, instructions, BLAS kernel and threads: another machine, or
OPENBLAS_CORETYPE, makes another file beside it. Rows that it measured before with the same versions stay in it.
"""

import argparse
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

from contenders import REFERENCE, TITLES, taking_part
from inputs import FEW, HEADS, KINDS, D, heads_at
from interval import FEWEST
from machine import cores, machine
from report import line
from runs import Run

HERE = Path(__file__).resolve().parent
LONG = [512, 1024, 2048, 4096, 8192, 16384]  # for the memory that Flash takes beyond its results


def main():
    options = arguments(sys.argv[1:])
    rows = plan(options)
    print(f"{len(rows)} rows: about {minutes(rows):.0f} minutes", flush=True)
    for threads in options.threads:
        run = Run(machine(threads))
        print(", ".join(f"{key} {value}" for key, value in run.machine.items()), flush=True)
        if threads == 1:
            for n in LONG:
                row = {"threads": 1, "dtype": "float32", "inputs": "normal", "n": n, "heads": FEW, "passes": "forward"}
                run.beyond[n] = measure("memory", row, contender=REFERENCE) - FEW * n * (4 * D + 8)  # out, logsumexp
        for row in rows:
            if row["threads"] == threads:
                row |= measure("time", row) | {"bytes": memory_of_all(row)}
                print(line(row), flush=True)
                run.add(row)
        print(f"written: {run.path.relative_to(HERE.parent)} and .md ({len(run.rows)} rows)")


def arguments(given):
    parser = argparse.ArgumentParser(description="Measure attention: ours, PyTorch's, JAX's, the textbook's.")
    parser.add_argument("--n", type=int, nargs="+", default=[*HEADS, 256, 512, 1024, 2048, 4096, 8192])
    parser.add_argument("--inputs", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--dtypes", nargs="+", default=["float32"], choices=["float32", "float64"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--passes", nargs="+", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--seconds", type=float, default=4, help="for a row that does not settle sooner")
    return parser.parse_args(given)


def plan(options):
    """All rows of a run, the long texts last."""
    return [
        {"threads": threads, "dtype": dtype, "inputs": inputs, "n": n, "heads": heads_at(n), "passes": passes}
        | {"spend": options.seconds}
        for threads in options.threads
        for dtype in options.dtypes
        for n in options.n
        for passes in options.passes
        for inputs in options.inputs
    ]


def minutes(rows):
    """How long a run takes, from the seconds for a score that all contenders together took once: a rough estimate."""
    for_a_score = {"forward": 7e-8, "causal": 7e-8, "backward": 1e-7, "both": 2e-7}
    total = 0
    for row in rows:
        work = for_a_score[row["passes"]] * row["heads"] * row["n"] ** 2 * (1 + (row["dtype"] == "float64"))
        total += 5 + max(row["spend"], FEWEST * work) + work  # start, rounds, first calls
        total += 20 * weighed(row)
    return total / 60


def weighed(row):
    """Whether the memory of a row is measured: once for all threads and inputs, on which it hardly depends."""
    usual = (row["threads"], row["dtype"], row["inputs"]) == (1, "float32", "normal")
    return usual and row["passes"] in ("forward", "both")


def memory_of_all(row):
    """The peak memory of each contender, where the table shows it."""
    names = [name for name in taking_part(row) if name != "products alone"] if weighed(row) else []
    return {name: measure("memory", row, contender=name) for name in names}


def measure(what, row, **more):
    """Run measure.py with as many threads as the row says, bound to as many cores."""
    command = [sys.executable, HERE / "measure.py", json.dumps({"what": what, **row, **more})]
    count, bound = str(row["threads"]), cores(row["threads"])
    limits = {name: count for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    # Bound before NumPy is loaded. XLA has no setting for its threads; it uses as many as the process may run on.
    bind = None if bound is None else functools.partial(os.sched_setaffinity, 0, bound)
    done = subprocess.run(
        command, env={**os.environ, **limits}, preexec_fn=bind, stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
