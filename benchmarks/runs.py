"""The recorded runs: a file each in benchmarks/runs, so that runs of many machines stand side by side."""

import json
from pathlib import Path

import gpu_report
from contenders import TITLES
from inputs import KINDS
from machine import comparable, name, slug
from report import report

FOLDER = Path(__file__).resolve().parent / "runs"


class Run:
    """A run on one machine with one number of threads.

    It takes up the rows that the machine measured before with the same versions, and replaces those that it measures
    anew.
    """

    def __init__(self, machine, folder=FOLDER):
        self.path = folder / f"{self.name(machine)}.json"
        self.machine, self._rows, self.beyond = machine, {}, {}
        earlier = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else None
        if earlier and comparable(earlier["machine"], machine):
            self._rows = {self.key(row): row for row in earlier["rows"]}
            self.beyond = {int(n): size for n, size in earlier["beyond"].items()}
            loads = [load for load in (earlier["machine"]["load"], machine["load"]) if load is not None]
            self.machine = {**machine, "load": max(loads, default=None)}  # some of its rows began with this one

    @property
    def rows(self):
        return [self._rows[place] for place in sorted(self._rows)]

    def add(self, row):
        """Record a row, at once: a run takes long, and a part of it is worth keeping."""
        self._rows[self.key(row)] = row
        self.save()

    def save(self):
        self.path.parent.mkdir(exist_ok=True)
        content = {"machine": self.machine, "beyond": self.beyond, "rows": self.rows}
        self.path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        self.path.with_suffix(".md").write_text(self.report(), encoding="utf-8")

    name = staticmethod(name)

    def key(self, row):
        """What a row measures, in the order of the report."""
        return row["dtype"], KINDS.index(row["inputs"]), list(TITLES).index(row["passes"]), row["n"]

    def report(self):
        """The page for people beside the record."""
        return report(self.machine, self.rows, self.beyond)


class GpuRun(Run):
    """A run of `gpu.py` on one GPU."""

    def name(self, machine):
        return slug(machine["GPU"])

    def key(self, row):
        return row["dtype"], row["d"], list(TITLES).index(row["passes"]), row["n"]

    def report(self):
        return gpu_report.report(self.machine, self.rows)
