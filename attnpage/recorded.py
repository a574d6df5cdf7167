"""The benchmark's recorded runs, as the page *Measured* quotes them: what all of them agree on."""

import json
from pathlib import Path

RUNS = Path(__file__).parents[1] / "benchmarks" / "runs"


def recorded_runs(path=None, *, threads=1, dtype="float32", inputs="normal"):
    """Read what `make bench` measured, on however many machines.

    Parameters
    ----------
    path : str or Path, optional
        The folder that holds the runs, a JSON file each; by default ``benchmarks/runs`` of the course.
    threads : int, default 1
    dtype : str, default "float32"
    inputs : {"normal", "trained"}
        Which of the measurements: with scores near zero, or spread as in a trained model.

    Returns
    -------
    runs : RecordedRuns
        Those runs that measured any of it, in the order of their names; none if there is no such folder.

    Examples
    --------
    >>> recorded_runs("elsewhere").machines
    []
    """
    return _read(path, on_gpu=False, threads=threads, dtype=dtype, inputs=inputs)


def recorded_gpu_runs(path=None, *, dtype="float16", d=64):
    """Read what `benchmarks/gpu.py` measured, on however many GPUs: our kernel in Triton beside PyTorch's.

    Parameters
    ----------
    path : str or Path, optional
        As for `recorded_runs`, and in the same folder.
    dtype : str, default "float16"
    d : int, default 64
        Features of a query, a key and a value.

    Returns
    -------
    runs : RecordedRuns
        Of the passes "forward" and "causal". Ratios are to our kernel's time, and `tflops` is known.

    Examples
    --------
    >>> recorded_gpu_runs("elsewhere").machines
    []
    """
    return _read(path, on_gpu=True, dtype=dtype, d=d)


def _read(path, on_gpu, **asked):
    """The runs on a GPU, or those on a processor, with the rows that measured what is asked for."""
    runs = {}
    for file in sorted(Path(RUNS if path is None else path).glob("*.json")):
        stored = json.loads(file.read_text(encoding="utf-8"))
        if ("GPU" in stored["machine"]) == on_gpu:
            rows = [row for row in stored["rows"] if all(row[key] == wanted for key, wanted in asked.items())]
            if rows:
                runs[file.stem] = {"machine": stored["machine"], "rows": rows}
    return RecordedRuns(runs)


class RecordedRuns:
    """Runs of the benchmark, by contender, pass ("forward", "causal", "backward", "both") and length n.

    Attributes
    ----------
    machines : list of dict
        What each ran on: "run", its name, then processor, BLAS kernel, versions, load and the like.
    heads : dict of int to int
        The lengths n that any run measured, in order, and with how many heads.
    settled : tuple of int
        In how many rows the 95 % interval of every ratio is within 3 %, and of how many.

    Examples
    --------
    >>> row = {"passes": "forward", "n": 512, "heads": 4, "settled": True, "bytes": {"JAX": 3145728}}
    >>> one = {"machine": {"cores": 2}, "rows": [row | {"ratios": {"JAX": 1.25}}]}
    >>> two = {"machine": {"cores": 8}, "rows": [row | {"ratios": {"JAX": 0.75}}]}
    >>> runs = RecordedRuns({"one": one, "two": two})
    >>> runs.ratio("JAX", "forward", 512), runs.mib("JAX", "forward", 512), runs.ratio("JAX", "backward", 512)
    ((0.75, 1.25), (3.0, 3.0), None)
    """

    def __init__(self, runs):
        self.machines = [{"run": name, **run["machine"]} for name, run in runs.items()]
        self._rows = {name: {(row["passes"], row["n"]): row for row in run["rows"]} for name, run in runs.items()}
        rows = [row for run in runs.values() for row in run["rows"]]
        self.heads = {row["n"]: row["heads"] for row in sorted(rows, key=lambda row: row["n"])}
        self.settled = sum(row["settled"] for row in rows), len(rows)

    def ratios(self, name, passes, n):
        """For each run that measured it, a contender's time divided by Flash's: above 1, Flash is faster.

        Examples
        --------
        >>> row = {"passes": "both", "n": 64, "heads": 64, "settled": False, "bytes": {}, "ratios": {"JAX": 0.5}}
        >>> RecordedRuns({"one": {"machine": {}, "rows": [row]}}).ratios("JAX", "both", 64)
        {'one': 0.5}
        """
        return self._all("ratios", name, passes, n)

    def ratio(self, name, passes, n):
        """The lowest and the highest of `ratios`. None if no run measured it."""
        return _ends(self.ratios(name, passes, n).values())

    def spans(self, name, passes, n):
        """For each run, from where to where the median of `ratios` may lie: the 95 % interval at its further end.

        Examples
        --------
        >>> row = {"passes": "both", "n": 64, "heads": 64, "settled": False, "bytes": {}, "ratios": {"JAX": 0.5}}
        >>> row |= {"interval": {"JAX": 0.25}}
        >>> RecordedRuns({"one": {"machine": {}, "rows": [row]}}).spans("JAX", "both", 64)
        {'one': (0.25, 0.75)}
        """
        middles, halves = self.ratios(name, passes, n), self._all("interval", name, passes, n)
        return {run: (middle - halves[run], middle + halves[run]) for run, middle in middles.items() if run in halves}

    def nanoseconds(self, name, passes, n):
        """For each run that measured it, a contender's time for each pair of a query and a key, visible or not.

        Examples
        --------
        >>> row = {"passes": "both", "n": 50, "heads": 4, "settled": False, "bytes": {}, "seconds": {"JAX": 2e-5}}
        >>> RecordedRuns({"one": {"machine": {}, "rows": [row]}}).nanoseconds("JAX", "both", 50)
        {'one': 2.0}
        """
        seconds = self._all("seconds", name, passes, n)
        return {run: 1e9 * each / (self._rows[run][passes, n]["heads"] * n**2) for run, each in seconds.items()}

    def mib(self, name, passes, n):
        """Peak memory of one call in MiB, the lowest and the highest of all runs. None if no run measured it."""
        return _ends(size / 2**20 for size in self._all("bytes", name, passes, n).values())

    def tflops(self, name, passes, n):
        """10¹² operations a second, the lowest and the highest of all runs on a GPU. None if no run measured it."""
        return _ends(self._all("tflops", name, passes, n).values())

    def _all(self, what, name, passes, n):
        found = {run: rows.get((passes, n), {}).get(what, {}).get(name) for run, rows in self._rows.items()}
        return {run: number for run, number in found.items() if number is not None}


def _ends(numbers):
    numbers = list(numbers)
    return (min(numbers), max(numbers)) if numbers else None


def from_to(how):
    """A format for `table`: the lowest and the highest number, or one where both look the same.

    Parameters
    ----------
    how : str
        The format specification of each.

    Returns
    -------
    show : callable
        From the two numbers to a text.

    Examples
    --------
    >>> show = from_to(".2f")
    >>> show((0.888, 1.081)), show((0.888, 0.889))
    ('0.89–1.08', '0.89')
    """
    return lambda ends: "–".join(dict.fromkeys(format(end, how) for end in ends))
