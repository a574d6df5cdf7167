"""Where a value of the notebook comes from, and the line that brings it into a file with NumPy alone."""

import inspect
import math
import sys


def place_of(name, value):
    """Return ``(code, origin, target)``: the line that defines `name` as `value`; if there is none, why, and its own name.

    Examples
    --------
    >>> place_of("np", np)[0], place_of("floor", -np.inf)[0], place_of("root", np.sqrt)[0]
    ('import numpy as np', "floor = float('-inf')", 'from numpy import sqrt as root')
    >>> from attnlib.softmax import softmax
    >>> place_of("sm", softmax)
    ('', 'comes from attnlib.softmax', 'softmax')
    """
    if inspect.ismodule(value):
        module = value.__name__
        if not always_there(module):
            return "", f"is the module {module}", ""
        return f"import {module}" + ("" if module == name else f" as {name}"), "", ""
    if _is_constant(value):
        return f"{name} = {_written(value)}", "", ""
    own_name, modules = getattr(value, "__name__", ""), (getattr(value, "__module__", None), "numpy")
    for module in filter(None, modules):
        if always_there(module) and own_name and getattr(sys.modules.get(module), own_name, None) is value:
            return f"from {module} import {own_name}" + ("" if own_name == name else f" as {name}"), "", ""
    if modules[0] and modules[0] != "__main__" and (inspect.isroutine(value) or inspect.isclass(value)):
        room = ".".join(modules[0].split(".")[:2]) if modules[0].startswith("attnlib.") else modules[0]
        return "", f"comes from {room}", own_name
    kind = "a class" if inspect.isclass(value) else f"a value of the kind {type(value).__name__}"
    return "", f"is {kind} from another cell", ""


def always_there(module):
    """Is a module there wherever NumPy is?"""
    root = module.partition(".")[0]
    return root == "numpy" or root in sys.stdlib_module_names


def _is_constant(value):
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return value is None or type(value) in (bool, int, float, str)


def _written(value):
    if type(value) is tuple:
        return "(" + "".join(f"{_written(part)}, " for part in value) + ")"
    if type(value) is float and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)
