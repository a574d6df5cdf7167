"""How fast on a GPU: our Triton kernel beside PyTorch's fused call and plain attention in PyTorch.

    python benchmarks/gpu.py [--n 1024 4096] [--d 64] [--dtypes float16] [--seconds 10]

It needs a GPU, PyTorch and Triton (``pip install -e ".[gpu]"``); without them it says so and measures nothing.

All contenders of a row run in turns, after a first call each, and have to give the same result. A turn makes so many
calls that the fastest is busy for 10 ms, between two events of the GPU's own clock, so that starting a call counts for
little. A row shows the median over the rounds of *their time / our kernel's time in the same round* with its 95 %
interval; rounds go on until that is within 3 %, or the seconds are over. The inputs are in the GPU's own memory, and
what fits into its cache is found there from the second call on. Peak memory is what one call takes beyond the inputs.

The run goes to benchmarks/runs, named after the GPU: the page *Measured* shows it in tables of its own.
"""

import argparse
import importlib.util
import math
import os
import sys

from gpu_report import line
from race import race, summary
from runs import GpuRun

REFERENCE = "Triton (ours)"
HEADS, TOKENS = 16, 16384  # so many tokens in all: short texts come in many
TURN = 0.01  # seconds


def main():
    if why := absent():
        print(f"No GPU run: {why}.")
        return
    from gpu_machine import gpu_machine

    rows = plan(arguments(sys.argv[1:]))
    run = GpuRun(gpu_machine())
    print(", ".join(f"{key} {value}" for key, value in run.machine.items()), flush=True)
    for row in rows:
        row |= measure(row)
        print(line(row), flush=True)
        run.add(row)
    print(f"written: {run.path.name} and .md ({len(run.rows)} rows) in {run.path.parent}")


def absent():
    """Why nothing can be measured here; None where it can."""
    needed = {"PyTorch": "torch", "Triton": "triton"}
    missing = [name for name, package in needed.items() if importlib.util.find_spec(package) is None]
    if missing:
        return f'it needs {" and ".join(missing)} (pip install -e ".[gpu]")'
    import torch

    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} finds no GPU here"
    if os.environ.get("TRITON_INTERPRET"):
        return "TRITON_INTERPRET is set, and the interpreter's time says nothing about a GPU"
    return None


def arguments(given):
    parser = argparse.ArgumentParser(description="Measure attention on a GPU: our Triton kernel beside PyTorch's.")
    parser.add_argument("--n", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--d", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--dtypes", nargs="+", default=["float16", "bfloat16"], choices=["float16", "bfloat16"])
    parser.add_argument("--seconds", type=float, default=4, help="for a row that does not settle sooner")
    return parser.parse_args(given)


def plan(options):
    """All rows of a run, the long texts last."""
    return [
        {"dtype": dtype, "d": d, "n": n, "texts": max(1, TOKENS // n), "heads": HEADS, "passes": passes}
        | {"spend": options.seconds}
        for dtype in options.dtypes
        for d in options.d
        for n in options.n
        for passes in ("forward", "causal")
    ]


def measure(row):
    """Times, operations per second and memory of everyone who can do the work of a row."""
    import torch
    from gpu_contenders import that_agree, works

    running = that_agree(works(row, "cuda"))
    found = times(running, row, EventClock(torch))
    found["bytes"] = {name: peak_bytes(torch, work) for name, work in running.items()}
    torch.cuda.empty_cache()
    return found


def times(running, row, clock):
    """Seconds of a call, ratios to our kernel and how sure they are; operations per second from the seconds."""
    once = []
    for work in running.values():
        before = clock()
        work()
        once.append(clock() - before)
    calls = max(1, math.ceil(TURN / min(once)))

    def turn(work):
        def run():
            for _ in range(calls):
                work()

        return run

    turns = {name: turn(work) for name, work in running.items()}
    found = summary(race(turns, REFERENCE, row["spend"], clock), REFERENCE)
    found["seconds"] = {name: seconds / calls for name, seconds in found["seconds"].items()}
    rates = {name: operations(row) / seconds / 1e12 for name, seconds in found["seconds"].items()}
    return {**found, "calls": calls, "tflops": rates}


def operations(row):
    """4 d for each visible pair of query and key: two products, and a multiply-add counts as two."""
    pairs = row["n"] * (row["n"] + 1) // 2 if row["passes"] == "causal" else row["n"] ** 2
    return 4 * row["d"] * pairs * row["texts"] * row["heads"]


class EventClock:
    """Seconds since it was made, by the GPU's clock, when all work so far is done."""

    def __init__(self, torch):
        self._event, self._start = torch.cuda.Event, None
        self()

    def __call__(self):
        now = self._event(enable_timing=True)
        now.record()
        now.synchronize()
        self._start = self._start or now
        return self._start.elapsed_time(now) / 1000


def peak_bytes(torch, work):
    """What one call takes beyond what is there before it, its output included."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


if __name__ == "__main__":
    main()
