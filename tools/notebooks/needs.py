"""What a notebook cannot run without, beside the packages: it says so in its metadata, ``"needs": "model"``.

Such a notebook is read, checked and built like the others, with its stored outputs. Where what it needs is missing, it is
not run, and one sentence says why.
"""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = {"model": (ROOT / "_vendor" / "minilm" / "model.safetensors", "the trained model is not here; run: make model")}


def missing(path):
    """The sentence that says why this notebook cannot run here, or None if it can."""
    try:
        metadata = json.loads(Path(path).read_text(encoding="utf-8"))["metadata"]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # whoever runs it says what is wrong with the file
    file, reason = NEEDED.get(metadata.get("needs") if isinstance(metadata, dict) else None, (None, None))
    return None if file is None or file.exists() else reason
