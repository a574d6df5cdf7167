"""What a teacher decides in the environment."""

import os


def hints_are_off():
    """Whether ``ATTNLIB_HINTS=off``: then there are no hints and no solutions, and no message names them."""
    return os.environ.get("ATTNLIB_HINTS", "").lower() == "off"
