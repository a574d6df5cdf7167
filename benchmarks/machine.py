"""What a run was made on: everything that its times depend on and that a program can find out."""

import ctypes
import hashlib
import os
import platform
import re
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import attnlib

ROOM = Path(attnlib.__file__).parent
MEASURED = ("flash", "attention", "softmax", "masks", "checks")  # the rooms whose code runs
PASSING = ("date", "load", "OPENBLAS_CORETYPE")  # may differ between rows of one run: the kernel is what counts


def machine(threads):
    """The record of a run with so many threads, before it begins."""
    built = np.show_config(mode="dicts")
    blas, vectors = built["Build Dependencies"]["blas"], built["SIMD Extensions"]
    about = {"processor": processor(), "cores": os.cpu_count(), "threads": threads, "pinned to": pinned(threads)}
    # The widest instructions that NumPy uses: exp depends on them.
    about["instructions"] = ["unknown", *vectors.get("baseline", []), *vectors.get("found", [])][-1]
    about["BLAS"] = f"{blas['name']} {blas['version']}"
    about["BLAS kernel"] = blas_kernel()
    about["OPENBLAS_CORETYPE"] = os.environ.get("OPENBLAS_CORETYPE", "not set")
    about |= {"Python": platform.python_version(), "NumPy": np.__version__}
    about |= {"PyTorch": installed("torch"), "JAX": installed("jax"), "attnlib": f"{attnlib.__version__}, {digest()}"}
    return {**about, **now()}


def now():
    """What may differ between the rows of one run."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {"load": load, "date": time.strftime("%Y-%m-%d")}


def processor():
    if Path("/proc/cpuinfo").exists():
        models = [entry for entry in Path("/proc/cpuinfo").read_text().splitlines() if entry.startswith("model name")]
        if models:
            return models[0].split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def cores(threads):
    """The first cores that this process may run on; None where a process cannot be bound to cores."""
    return sorted(os.sched_getaffinity(0))[:threads] if hasattr(os, "sched_getaffinity") else None


def pinned(threads):
    return "no core" if cores(threads) is None else ", ".join(f"core {core}" for core in cores(threads))


def blas_kernel():
    """The processor for which OpenBLAS has chosen its products, as it says itself."""
    library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # a look into it finds what it is linked to
    for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
        if hasattr(library, name):
            ask = getattr(library, name)
            ask.restype = ctypes.c_char_p
            return ask().decode()
    return "unknown"


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def digest(*files):
    """Seven letters that change with the code that is measured: these files, or the rooms of attnlib."""
    files = files or sorted(path for room in MEASURED for path in (ROOM / room).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:7]


def name(about):
    """The name of the run's files.

    >>> name({"processor": "AMD EPYC", "instructions": "X86_V3", "BLAS kernel": "Haswell", "threads": 1})
    'amd-epyc-x86-v3-haswell-1'
    """
    return slug(*(about[key] for key in ("processor", "instructions", "BLAS kernel", "threads")))


def slug(*parts):
    """As a part of a file's name.

    >>> slug("NVIDIA A100-SXM4-40GB")
    'nvidia-a100-sxm4-40gb'
    """
    return re.sub("[^a-z0-9]+", "-", " ".join(map(str, parts)).lower()).strip("-")


def comparable(one, other):
    """Whether rows of both may stand in one run."""
    return {**one, **dict.fromkeys(PASSING)} == {**other, **dict.fromkeys(PASSING)}
