"""What draws needs Matplotlib, which takes longer to import than everything else together: so it waits until it is asked for."""

import sys
from importlib import import_module

DRAWS = {
    "draw_schedule": "schedules",
    "show_schedule": "schedules",
    "stepped_figure": "stepped",
    "TapFigure": "tap",
    "tap_figure": "tap",
    "heads_figure": "tap_heads",
    "plotting": "plotting",
}


def __getattr__(name):
    """Import what draws: Python calls this for a name that the package does not have yet, once."""
    if name not in DRAWS:
        raise AttributeError(f"module 'attnpage' has no attribute {name!r}")
    module = import_module(f"attnpage.{DRAWS[name]}")
    found = module if name == DRAWS[name] else getattr(module, name)
    setattr(sys.modules["attnpage"], name, found)
    return found


def __dir__():
    package = sys.modules["attnpage"]
    return sorted({*vars(package), *package.__all__})
