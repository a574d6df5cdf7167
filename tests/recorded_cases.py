"""Read the recorded answers of PyTorch and JAX; `tests/recorded/make_cases.py` says what is in them."""

import functools
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent / "recorded"


@functools.cache
def load(name):
    """Return {case: {option or array by name}}, in the order recorded, from one .npz file. Nobody may write to them."""
    with np.load(HERE / name, allow_pickle=False) as archive:
        cases = json.loads(str(archive["meta"]))["cases"]
        for path in archive.files:
            if path != "meta":
                case, array = path.split("/", 1)
                cases[case][array] = archive[path]
                cases[case][array].flags.writeable = False
    return cases


def versions(name):
    """Return the versions of the libraries that answered."""
    with np.load(HERE / name, allow_pickle=False) as archive:
        return json.loads(str(archive["meta"]))["versions"]
