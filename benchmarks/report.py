"""How a run is laid out for people: a page of tables, and a line while it runs."""

from contenders import CONTENDERS, REFERENCE, TITLES
from inputs import SPREAD, D

OTHERS = [name for name in CONTENDERS if name != REFERENCE]
HEADER = f"""\
A number is a time divided by the time of our Flash in the same round, d = v = {D}, q = k = n: above 1, Flash is faster.
It is the median of the rounds; ± reaches to the further end of its 95 % interval. Rounds go on until that is within
3 % of every number of a row, or the time for the row is over (*settled*: no). With one thread the time is the
processor's, otherwise the wall clock's. *Textbook* divides by `np.sqrt(d)`, which turns float32 into float64; *dtype
kept* divides by `math.sqrt(d)`. JAX takes the softmax of float64 in float32. *Products alone* is the time of just the
matrix products that the pass needs. A dash: not installed, or too large.
"""


def line(row):
    ratios = "  ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items())
    label = f"{row['threads']} thread(s) {row['dtype']} {row['inputs']:7} n {row['n']:5} {row['passes']:8}"
    known = "settled" if row["settled"] else "not settled"
    return f"{label} Flash {1000 * row['seconds'][REFERENCE]:9.2f} ms  {known:11} x: {ratios}"


def report(machine, rows, beyond):
    about = "; ".join(f"{key} {value}" for key, value in machine.items())
    parts = ["# A run of the benchmark\n", f"{about}.\n", HEADER]
    for group in dict.fromkeys((row["passes"], row["dtype"], row["inputs"]) for row in rows):
        chosen = [row for row in rows if (row["passes"], row["dtype"], row["inputs"]) == group]
        passes, dtype, inputs = group
        parts.append(f"## {TITLES[passes]}, {dtype}, scores of standard deviation {SPREAD[inputs]} ({inputs})\n")
        columns = ["n", "heads", "largest score", "Flash, ms", *OTHERS, "rounds", "settled"]
        parts.append(table(columns, [time_cells(row) for row in chosen]))
    weighed = [row for row in rows if row["bytes"]]
    for passes in dict.fromkeys(row["passes"] for row in weighed):
        chosen = [row for row in weighed if row["passes"] == passes]
        columns = [REFERENCE, *OTHERS[:-1]]  # the products alone hold what they are given
        parts.append(f"## Peak memory of one call, MiB: {TITLES[passes].lower()}, float32\n")
        parts.append(table(["n", "heads", *columns], [memory_cells(row, columns) for row in chosen]))
    if beyond:
        parts.append("## What Flash's forward holds beyond its inputs and results, MiB, float32, 4 heads\n")
        parts.append("Tiles and running sums: their size depends on the blocks, and hardly on n.\n")
        parts.append(table(["n", "MiB"], [[str(n), f"{size / 2**20:.2f}"] for n, size in sorted(beyond.items())]))
    return "\n".join(parts)


def time_cells(row):
    start = [str(row["n"]), str(row["heads"]), f"{row['largest_score']:.1f}", f"{1000 * row['seconds'][REFERENCE]:.2f}"]
    return [*start, *(ratio_cell(row, name) for name in OTHERS), str(row["rounds"]), "yes" if row["settled"] else "no"]


def ratio_cell(row, name):
    if name not in row["ratios"]:
        return "–"
    return f"{row['ratios'][name]:.2f} ± {row['interval'][name]:.2f}"


def memory_cells(row, columns):
    cells = [row["bytes"].get(name) for name in columns]
    return [str(row["n"]), str(row["heads"]), *("–" if cell is None else f"{cell / 2**20:.1f}" for cell in cells)]


def table(head, body):
    rows = [head, ["---:"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
