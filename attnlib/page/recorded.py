"""The benchmark's recorded run, as a chapter quotes it: times beside Flash's, and peak memory."""

import json
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.json"


def recorded_run(path=None, *, threads=1, dtype="float32"):
    """Read what `make bench` measured.

    Parameters
    ----------
    path : str or Path, optional
        Where the run is stored; by default ``benchmarks/results.json`` of the course.
    threads : int, default 1
    dtype : str, default "float32"
        Which of the measurements.

    Returns
    -------
    run : RecordedRun
        Nothing is measured in it if there is no such file, and its `machine` says so.

    Examples
    --------
    >>> recorded_run("elsewhere.json").machine
    {'elsewhere.json': "missing; it comes with the course's files"}
    """
    path = RESULTS if path is None else Path(path)
    if not path.is_file():
        return RecordedRun({path.name: "missing; it comes with the course's files"}, {})
    stored = json.loads(path.read_text(encoding="utf-8"))
    chosen = [row for row in stored["rows"] if (row["threads"], row["dtype"]) == (threads, dtype)]
    return RecordedRun(stored["machine"], {(row["passes"], row["n"]): row for row in chosen})


class RecordedRun:
    """A run of the benchmark, by contender, pass ("forward", "causal", "backward", "both") and length n.

    Attributes
    ----------
    machine : dict
        What it ran on: versions, processor, date.
    sizes : list of int
        The lengths n that were measured.

    Examples
    --------
    >>> run = RecordedRun({}, {("forward", 512): {"ratios": {"JAX": 1.25}, "bytes": {"JAX": 3145728}}})
    >>> run.ratio("JAX", "forward", 512), run.mib("JAX", "forward", 512), run.ratio("JAX", "backward", 512)
    (1.25, 3.0, None)
    """

    def __init__(self, machine, rows):
        self.machine, self._rows = machine, rows
        self.sizes = sorted({n for _, n in rows})

    def ratio(self, name, passes, n):
        """A contender's time divided by Flash's: above 1, Flash is faster. None if it was not measured."""
        return self._rows.get((passes, n), {"ratios": {}})["ratios"].get(name)

    def mib(self, name, passes, n):
        """Peak memory of one call in MiB. None if it was not measured."""
        size = self._rows.get((passes, n), {"bytes": {}})["bytes"].get(name)
        return None if size is None else size / 2**20
