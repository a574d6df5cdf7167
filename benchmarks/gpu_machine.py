"""What a run on a GPU was made on."""

import platform
import subprocess
from pathlib import Path

import torch
from machine import digest, installed, now

KERNEL = Path(__file__).with_name("flash_triton.py")


def gpu_machine():
    """The record of a run on the first GPU, before it begins."""
    gpu = torch.cuda.get_device_properties(0)
    about = {"GPU": gpu.name, "processors": gpu.multi_processor_count, "memory, GiB": round(gpu.total_memory / 2**30)}
    about |= {"capability": f"{gpu.major}.{gpu.minor}", "driver": driver()}
    about["toolkit"] = f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {torch.version.hip}"
    about |= {"Python": platform.python_version(), "PyTorch": torch.__version__, "Triton": installed("triton")}
    return {**about, "kernel": digest(KERNEL), **now()}


def driver():
    """As nvidia-smi says; times depend on it."""
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"
