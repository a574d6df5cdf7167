"""How fast and how large: our attention beside PyTorch, JAX and the textbook formula. `make bench` runs this.

    python benchmarks/run.py [--n 256 1024] [--dtypes float32] [--threads 1] [--seconds 4]

All contenders of a row are measured in turn, in one process, after a warm-up; a row shows the median over the rounds
of *their time / our Flash's time in the same round*, so that a slow moment of the machine hits both. With one thread
the time is the processor's, which other programs hardly disturb; with more it is the wall clock's. Peak memory is that
of one call in a process of its own: NumPy's arrays to the byte, the peers by the growth of the process. The table goes
to benchmarks/results.md; rows that this machine measured before with the same versions stay in it.
"""

import argparse
import ctypes
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADS, D = 4, 64
LIMIT = 6 * 2**30  # bytes of score arrays beyond which a contender is left out
REFERENCE = "Flash (ours)"
LONG = [512, 1024, 2048, 4096, 8192, 16384]  # for the memory that Flash takes beyond its results
TITLES = {"forward": "Forward", "causal": "Causal forward", "backward": "Backward", "both": "Forward and backward"}


def main():
    options = arguments()
    if options.worker:
        print(json.dumps(WORKERS[options.worker](options)))
        return
    rows, beyond = rows_so_far()
    for n in LONG:
        row = {"threads": 1, "dtype": "float32", "n": n, "passes": "forward"}
        beyond[n] = run_child("memory", row, 0, REFERENCE) - 4 * HEADS * n * (D + 1)  # out and logsumexp
        save(rows, beyond)
    for threads in options.threads:
        for dtype in options.dtypes:
            for n in options.n:
                for passes in options.passes:
                    row = {"threads": threads, "dtype": dtype, "n": n, "passes": passes}
                    row["seconds"], row["ratios"] = child("time", row, options.seconds)
                    memory = threads == 1 and dtype == "float32" and passes in ("forward", "both")
                    row["bytes"] = child("memory", row, options.seconds) if memory else {}
                    rows[threads, dtype, n, passes] = row
                    print(line(row), flush=True)
                    save(rows, beyond)  # after every row: a run takes more than an hour, and a part of it is worth keeping
    print(f"\nwritten: benchmarks/results.md and results.json ({len(rows)} rows)")


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


def arguments():
    parser = argparse.ArgumentParser(description="Measure attention: ours, PyTorch's, JAX's, the textbook's.")
    parser.add_argument("--n", type=int, nargs="+", default=[256, 512, 1024, 2048, 4096, 8192])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"], choices=["float32", "float64"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--passes", nargs="+", default=list(TITLES), choices=list(TITLES))
    parser.add_argument("--seconds", type=float, default=4, help="to spend on the rounds of one row (at least 5, or 3 of over 15 s)")
    parser.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    return parser.parse_args()


def child(worker, row, seconds):
    """Run a worker in a process of its own, since the number of threads is fixed when NumPy is imported."""
    if worker == "memory":
        names = run_child("names", row, seconds)
        return {name: run_child("memory", row, seconds, name) for name in names}
    return run_child(worker, row, seconds)


def run_child(worker, row, seconds, contender=None):
    command = [sys.executable, __file__, "--worker", worker, "--seconds", str(seconds), "--n", str(row["n"])]
    command += ["--dtypes", row["dtype"], "--passes", row["passes"], "--threads", str(row["threads"])]
    command += ["--contender", contender] if contender else []
    count = str(row["threads"])
    limits = {name: count for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    # XLA has no setting for its threads; it uses as many as the process may run on.
    pinned = ["taskset", "-c", f"0-{row['threads'] - 1}"] if sys.platform == "linux" else []
    done = subprocess.run(pinned + command, env={**os.environ, **limits}, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def names(options):
    from contenders import fits, installed

    (n,), (dtype,) = options.n, options.dtypes
    return [name for name in installed() if name != "products alone" and fits(name, n, HEADS, dtype, LIMIT)]


def measure_time(options):
    from contenders import CONTENDERS, fits, installed

    (n,), (dtype,), (passes,), (threads,) = options.n, options.dtypes, options.passes, options.threads
    limit_torch(threads)
    contenders = {
        name: CONTENDERS[name](n, D, HEADS, dtype, passes)
        for name in installed()
        if fits(name, n, HEADS, dtype, LIMIT)
    }
    for contender in contenders.values():
        contender()
    times = {name: [] for name in contenders}
    start = time.perf_counter()
    clock = time.process_time if threads == 1 else time.perf_counter
    while (done := len(times[REFERENCE])) < 101:
        spent = time.perf_counter() - start
        if done >= (3 if spent > 15 * done else 5) and spent > options.seconds:
            break
        for name, contender in contenders.items():
            before = clock()
            contender()
            times[name].append(clock() - before)
    seconds = {name: statistics.median(all_times) for name, all_times in times.items()}
    ratios = {
        name: statistics.median(theirs / ours for theirs, ours in zip(all_times, times[REFERENCE], strict=True))
        for name, all_times in times.items()
    }
    return seconds, ratios


def measure_memory(options):
    """Bytes that one call needs at its peak, its results included; None where the system does not tell."""
    from contenders import CONTENDERS, NEEDS

    (n,), (dtype,), (passes,), (threads,) = options.n, options.dtypes, options.passes, options.threads
    limit_torch(threads)
    CONTENDERS[options.contender](64, D, HEADS, dtype, passes)()  # load what is loaded at the first call
    if options.contender not in NEEDS:  # NumPy reports every array to tracemalloc
        contender = CONTENDERS[options.contender](n, D, HEADS, dtype, passes)
        tracemalloc.start()
        contender()
        return tracemalloc.get_traced_memory()[1]
    if not Path("/proc/self/clear_refs").exists():
        return None
    contender = CONTENDERS[options.contender](n, D, HEADS, dtype, passes)
    give_back_free_memory()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    contender()
    return status("VmHWM") - before


def give_back_free_memory():
    """Or the contender would use what making its inputs left over, and seem to need nothing."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        pass


def status(field):
    for entry in Path("/proc/self/status").read_text().splitlines():
        if entry.startswith(field):
            return int(entry.split()[1]) * 1024
    raise KeyError(field)


def limit_torch(threads):
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)


def machine():
    import numpy as np

    built = np.show_config(mode="dicts")
    blas, vectors = built["Build Dependencies"]["blas"], built["SIMD Extensions"].get("found", ["baseline"])
    about = {"python": platform.python_version(), "numpy": np.__version__, "blas": f"{blas['name']} {blas['version']}"}
    about["vectors"] = vectors[-1]  # the widest instructions that NumPy uses: exp depends on them
    for package in ("torch", "jax"):
        try:
            about[package] = version(package)
        except PackageNotFoundError:
            about[package] = "not installed"
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        models = [entry for entry in Path("/proc/cpuinfo").read_text().splitlines() if entry.startswith("model name")]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    return {**about, "processor": processor, "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d")}


def line(row):
    ratios = "  ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items() if name != REFERENCE)
    label = f"{row['threads']} thread(s) {row['dtype']} n {row['n']:5} {row['passes']:8}"
    return f"{label} Flash {1000 * row['seconds'][REFERENCE]:9.2f} ms   x: {ratios}"


def report(rows, beyond):
    from contenders import CONTENDERS

    others = [name for name in CONTENDERS if name != REFERENCE]
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    parts = [
        "# Benchmark\n",
        f"Attention with {HEADS} heads, d = v = {D}, q = k = n. {about}.\n",
        "A number is a time divided by the time of our Flash in the same round: above 1, Flash is faster. Medians;",
        "processor time where there is one thread, wall-clock time otherwise.",
        "*Textbook* divides by `np.sqrt(d)`, which turns float32 into float64; *dtype kept* divides by `math.sqrt(d)`.",
        "*Products alone* is the time of just the matrix products that the pass needs. A dash: not installed, or too large.\n",
    ]
    for threads in dict.fromkeys(row["threads"] for row in rows):
        for dtype in dict.fromkeys(row["dtype"] for row in rows):
            for passes in dict.fromkeys(row["passes"] for row in rows):
                chosen = [r for r in rows if (r["threads"], r["dtype"], r["passes"]) == (threads, dtype, passes)]
                parts.append(f"## {TITLES[passes]}, {dtype}, {threads} thread{'s' * (threads > 1)}\n")
                parts.append(table(["n", "Flash, ms", *others], [time_cells(row, others) for row in chosen]))
    measured = [row for row in rows if row["bytes"]]
    for passes in dict.fromkeys(row["passes"] for row in measured):
        chosen = [row for row in measured if row["passes"] == passes]
        columns = [REFERENCE, *(name for name in others if name != "products alone")]
        parts.append(f"## Peak memory of one call, MiB: {TITLES[passes].lower()}, float32\n")
        parts.append(table(["n", *columns], [memory_cells(row, columns) for row in chosen]))
    if beyond:
        parts.append("## What Flash's forward holds beyond its inputs and results, MiB, float32\n")
        parts.append("Tiles and running sums: their size depends on the blocks, and hardly on n.\n")
        parts.append(table(["n", "MiB"], [[str(n), f"{size / 2**20:.2f}"] for n, size in sorted(beyond.items())]))
    return "\n".join(parts)


def time_cells(row, others):
    ratios = [f"{row['ratios'][name]:.2f}" if name in row["ratios"] else "–" for name in others]
    return [str(row["n"]), f"{1000 * row['seconds'][REFERENCE]:.2f}", *ratios]


def memory_cells(row, columns):
    cells = [row["bytes"].get(name) for name in columns]
    return [str(row["n"]), *("–" if cell is None else f"{cell / 2**20:.1f}" for cell in cells)]


def table(head, body):
    rows = [head, ["---:"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


WORKERS = {"time": measure_time, "memory": measure_memory, "names": names}

if __name__ == "__main__":
    main()
