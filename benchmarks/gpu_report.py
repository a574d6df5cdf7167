"""How a run on a GPU is laid out for people: a page of tables, and a line while it runs."""

from contenders import TITLES
from report import table

REFERENCE, OTHERS = "Triton (ours)", ["PyTorch fused", "PyTorch plain"]
NAMES = [REFERENCE, *OTHERS]
HEADER = """\
q = k = n, d = v, inputs N(0, 1). TFLOP/s are the operations of the products, 4 d for each visible pair, by the median
time of a call. *Time / ours* is the median, over the rounds, of the time by that of our kernel in the same round: above
1, our kernel is faster. ± reaches to the further end of its 95 % interval. Rounds go on until that is within 3 % of
every number of a row, or the time for the row is over (*settled*: no). Memory is the peak of one call beyond its
inputs, its output included. A dash: it could not do the row.
"""


def line(row):
    rates = "  ".join(f"{name} {rate:.1f}" for name, rate in row["tflops"].items())
    known = "settled" if row["settled"] else "not settled"
    return f"{row['dtype']:8} d {row['d']:3} n {row['n']:5} {row['passes']:8} {known:11} TFLOP/s: {rates}"


def report(machine, rows):
    about = "; ".join(f"{key} {value}" for key, value in machine.items())
    parts = ["# A run on a GPU\n", f"{about}.\n", HEADER]
    for passes, dtype, d in dict.fromkeys((row["passes"], row["dtype"], row["d"]) for row in rows):
        chosen = [row for row in rows if (row["passes"], row["dtype"], row["d"]) == (passes, dtype, d)]
        parts.append(f"## {TITLES[passes]}, {dtype}, d = {d}\n")
        columns = [f"{name}, TFLOP/s" for name in NAMES] + [f"{name}, time / ours" for name in OTHERS]
        columns += [f"{name}, MiB" for name in NAMES]
        parts.append(table(["n", "texts", "heads", *columns, "rounds", "settled"], [cells(row) for row in chosen]))
    return "\n".join(parts)


def cells(row):
    start = [str(row[key]) for key in ("n", "texts", "heads")]
    rates = [shown(row["tflops"].get(name), ".1f") for name in NAMES]
    ratios = [
        f"{row['ratios'][name]:.2f} ± {row['interval'][name]:.2f}" if name in row["ratios"] else "–" for name in OTHERS
    ]
    sizes = [shown(row["bytes"].get(name), ".1f", 2**20) for name in NAMES]
    return [*start, *rates, *ratios, *sizes, str(row["rounds"]), "yes" if row["settled"] else "no"]


def shown(number, how, unit=1):
    return "–" if number is None else format(number / unit, how)
