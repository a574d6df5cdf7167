"""The table of the benchmark: what the numbers are of, and how they are laid out."""

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from contenders import CONTENDERS, HEADS, REFERENCE, TITLES, D


def machine():
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
    others = [name for name in CONTENDERS if name != REFERENCE]
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    parts = [
        "# Benchmark\n",
        f"Attention with {HEADS} heads, d = v = {D}, q = k = n. {about}.\n",
        "A number is a time divided by the time of our Flash in the same round: above 1, Flash is faster. Medians;",
        "processor time where there is one thread, wall-clock time otherwise.",
        "*Textbook* divides by `np.sqrt(d)`, which turns float32 into float64; *dtype kept* divides by `math.sqrt(d)`.",
        "*Products alone* is the time of just the matrix products that the pass needs. "
        "A dash: not installed, or too large.\n",
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
