"""Write recorded cases into one file."""

import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent


class File:
    """Collects cases and writes them, inputs as small as they are exact."""

    def __init__(self, **versions):
        self.meta = {"versions": versions, "cases": {}}
        self.arrays = {}

    def add(self, name, options, inputs, results):
        assert name not in self.meta["cases"], name
        self.meta["cases"][name] = options
        for key, array in inputs.items():
            for dtype in (np.float16, np.float32, np.float64):
                with np.errstate(over="ignore"):
                    small = array if array.dtype == bool else array.astype(dtype)
                if np.array_equal(small, array):
                    break
            self.arrays[f"{name}/{key}"] = small
        self.arrays |= {f"{name}/{key}": array for key, array in results.items()}

    def save(self, name):
        np.savez_compressed(HERE / name, meta=np.array(json.dumps(self.meta)), **self.arrays)
        groups = [options["group"] for options in self.meta["cases"].values()]
        print(f"{name}: {(HERE / name).stat().st_size / 1e6:.2f} MB, {len(groups)} cases")
        for group in dict.fromkeys(groups):
            print(f"  {groups.count(group):4d} {group}")
