"""Run a command as an older processor would compute: the last digits of a sum depend on which instructions there are.

    python -m tools.testing.plain_cpu pytest chapters

NumPy leaves out whatever it picks by processor, OpenBLAS takes the kernels of the oldest processor that it knows.
"""

import os
import platform
import sys

import numpy as np

OLDEST = {"x86_64": "Prescott", "amd64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}  # in OpenBLAS's words


def settings():
    """The environment variables. Only names that are known here: NumPy and OpenBLAS complain about others."""
    # NumPy reads the names of its own version: AVX2 or X86_V3.
    found = {"NPY_DISABLE_CPU_FEATURES": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))}
    oldest = OLDEST.get(platform.machine().lower())
    return found | ({"OPENBLAS_CORETYPE": oldest} if oldest else {})


def main(command):
    if not command:
        return "plain_cpu: no command given, for instance: python -m tools.testing.plain_cpu pytest chapters"
    variables = settings()
    print("plain_cpu:", *(f"{name}='{value}'" for name, value in variables.items()), flush=True)
    try:
        os.execvpe(command[0], command, os.environ | variables)
    except OSError as error:
        return f"plain_cpu: {command[0]}: {error.strerror}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
