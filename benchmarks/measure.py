"""Measure one row of the table: its times, or the memory of one contender.

    python benchmarks/measure.py '{"what": "time", "threads": 1, "dtype": "float32", "inputs": "normal", "n": 256, …}'

`run.py` starts this as a process of its own for every row, since the number of threads is fixed when NumPy is imported,
and for every memory, since a process remembers what it once needed. The answer is a line of JSON.
"""

import ctypes
import gc
import json
import sys
import time
import tracemalloc
from pathlib import Path

from contenders import NEEDS, REFERENCE, contender, taking_part
from inputs import largest_score
from race import race, summary


def measure_time(row):
    """Median seconds of each contender, the ratios to our Flash and how sure they are: see `race.summary`."""
    works = {name: contender(name, row) for name in taking_part(row)}
    for work in works.values():
        work()  # what is loaded, compiled or cached at the first call is none of the others
    clock = time.process_time if row["threads"] == 1 else time.perf_counter
    times = race(works, REFERENCE, row["spend"], clock)
    return {"largest_score": largest_score(row), **summary(times, REFERENCE)}


def measure_memory(row):
    """Bytes that one call needs at its peak, its results included; None where the system does not tell."""
    name = row["contender"]
    contender(name, row | {"n": 64, "heads": 1})()  # load what is loaded at the first call
    if name not in NEEDS:  # NumPy reports every array to tracemalloc
        work = contender(name, row)
        tracemalloc.start()
        work()
        return tracemalloc.get_traced_memory()[1]
    if not Path("/proc/self/clear_refs").exists():
        return None
    work = contender(name, row)
    give_back_free_memory()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    work()
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


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    limit_torch(asked["threads"])
    print(json.dumps({"time": measure_time, "memory": measure_memory}[asked["what"]](asked)))
