"""Find, read and write the reader's file.

The file is written in one step, so that a crash never leaves half a file. If something in it is replaced, a copy of the
old file is kept.
"""

import contextlib
import io
import os
import shutil
import tokenize
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path

from attnexercises.own_library.lock import locked

NAME = "my_attention.py"


class Unusable(Exception):
    """The file cannot be read or written. The exception's text is a sentence for the reader."""


class Changed(Exception):
    """Another session has written the file since it was read."""


@dataclass(frozen=True)
class Content:
    """The file as it was read: the text without a byte order mark, and the bytes, or None if there is no file."""

    text: str = ""
    data: bytes | None = None


def location():
    """Return the path of the file, in the working directory; None if ``ATTNLIB_LIBRARY=off``.

    ``ATTNLIB_LIBRARY=<path>`` chooses another file.
    """
    chosen = os.environ.get("ATTNLIB_LIBRARY", "")
    if chosen.lower() == "off":
        return None
    try:
        return Path(os.path.realpath(os.path.expanduser(chosen or NAME)))
    except OSError:  # the working directory was deleted
        return Path(NAME)


def read(path):
    """Return the `Content` of the file; raise `Unusable` for anything but Python in UTF-8."""
    try:
        data = path.read_bytes()
        encoding = _encoding(data)
        if encoding not in ("utf-8", "utf-8-sig"):
            raise Unusable(f"{path.name} is written in {encoding}, not in UTF-8. It is left as it is.")
        text = data.decode(encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, path.name, "exec")
    except FileNotFoundError:
        return Content()
    except OSError as error:
        raise Unusable(f"{path.name} cannot be read: {_reason(error)}.") from None
    except UnicodeDecodeError:
        raise Unusable(f"{path.name} is not a text in UTF-8. It is left as it is.") from None
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        raise Unusable(f"{path.name} is not Python{where}: {error.msg}. It is left as it is; mend it first.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unusable(f"{path.name} is not Python: {error}. It is left as it is; mend it first.") from None
    return Content(text, data)


def write(path, before, text, keep_copy):
    """Replace the content `before` of the file by `text`; return the name of the copy of the old file, or "".

    Raises
    ------
    Changed
        If the file has changed since it was read as `before`. Nothing is written then.
    Unusable
        If the system does not let us write. The old file is unchanged then.
    """
    mark = b"\xef\xbb\xbf" if (before.data or b"").startswith(b"\xef\xbb\xbf") else b""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with locked(path):
            if read(path).data != before.data:
                raise Changed
            if before.data is not None and not os.access(path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            with open(temporary, "xb") as file:
                file.write(mark + text.encode("utf-8"))
            if before.data is not None:
                shutil.copymode(path, temporary)
            copy = keep(path, before.data) if keep_copy and before.data is not None else ""
            os.replace(temporary, path)
            return copy
    except OSError as error:
        raise Unusable(f"{path.name} cannot be written: {_reason(error)}. Nothing was changed.") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def set_aside(path):
    """Move the file to the name of a new copy; return this name."""
    try:
        with locked(path):
            copy = keep(path, path.read_bytes())
            path.unlink()
            return copy
    except OSError as error:
        raise Unusable(f"{path.name} cannot be moved: {_reason(error)}.") from None


def keep(path, data):
    """Write `data` to the first of my_attention.1.py, my_attention.2.py, ... that is free; return its name."""
    for number in range(1, 10**6):
        copy = path.with_name(f"{path.stem}.{number}{path.suffix}")
        with contextlib.suppress(FileExistsError), open(copy, "xb") as file:
            file.write(data)
            return copy.name
    raise OSError(f"too many copies of {path.name}")


def _encoding(data):
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:  # for instance a first line that is not UTF-8; decoding will report that
        return "utf-8"


def _reason(error):
    return (error.strerror or type(error).__name__).lower()
