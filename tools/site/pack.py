"""Pack the built site into one zip file, to be read without a network: open index.html in its one folder.

    python -m tools.site.pack [--site _build/html] [--output _build/attention-derived.zip]

With `make live` before it the zip file runs chapters, too: its pages find Python in one script (`book/live/bundle.py`). `start.py`
in the folder serves it, as a second way. The same site gives the same bytes: files in the order of their names, all from the first day a zip file can name.
All or nothing: after a failure there is no zip file.
"""

import argparse
import os
import sys
import zipfile
from pathlib import Path

from book.live import bundle

ROOT = Path(__file__).resolve().parents[2]
START = Path(__file__).with_name("start.py")
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
PLAIN_FILE = 0o100644 << 16


def pack(site, output):
    """Pack the folder and return the number of its files."""
    site, output = Path(site).resolve(), Path(output).resolve()
    output.unlink(missing_ok=True)
    if not (site / "index.html").is_file():
        raise FileNotFoundError("there is no site; run: make book")
    new, unneeded = bundle.offline(site, ROOT / "book" / "live")
    new["start.py"] = START.read_bytes()
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()} - unneeded | new.keys()
    output.parent.mkdir(parents=True, exist_ok=True)
    scratch = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(names):
                entry = zipfile.ZipInfo(f"{output.stem}/{name}", FIRST_DAY)
                entry.create_system, entry.external_attr = 3, PLAIN_FILE
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, new[name] if name in new else (site / name).read_bytes())
        os.replace(scratch, output)
    finally:
        scratch.unlink(missing_ok=True)
    return len(names)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Pack the built site into one zip file.")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    output = ROOT / "_build" / "attention-derived.zip"
    parser.add_argument("--output", type=Path, default=output, help="default: _build/attention-derived.zip")
    options = parser.parse_args(arguments)
    try:
        count = pack(options.site, options.output)
    except bundle.BundleError as error:
        print(f"pack: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        reason = f"cannot write {error.filename}: {error.strerror}" if error.filename else error
        print(f"pack: {reason}", file=sys.stderr)
        return 1
    print(f"pack: {count} files, {options.output.stat().st_size / 1e6:.1f} MB: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
