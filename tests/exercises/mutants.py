"""Small slips in a function: every way to change one operator, constant, axis, argument or statement."""

import ast
import copy
import functools
import inspect
import pathlib
import warnings

SWAPS = {
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult], ast.Pow: [ast.Mult],
    ast.FloorDiv: [ast.Div], ast.Mod: [ast.FloorDiv],
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd],
}  # fmt: skip
NAMES = {
    "max": "min", "min": "max", "sum": "mean", "mean": "sum", "maximum": "minimum", "minimum": "maximum",
    "tril": "triu", "triu": "tril", "repeat": "tile", "argmax": "argmin", "cos": "sin", "sin": "cos", "log": "exp",
    "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like", "empty": "ones", "any": "all", "all": "any",
    "cumsum": "sum", "ceil": "floor", "floor": "ceil",
}  # fmt: skip
COMMUTATIVE = {"max", "min", "maximum", "minimum", "logaddexp", "vecdot"}


def mutants(function):
    """Yield (description, changed function) for every single slip in the source of `function`."""
    tree = function_tree(function)
    holder = ast.Expression(tree) if isinstance(tree, ast.Lambda) else ast.Module([tree], [])
    seen = {ast.unparse(tree)}
    for parent, field, place, node in list(_places(holder)):
        for variant in _variants(node):
            _put(parent, field, place, ast.fix_missing_locations(ast.copy_location(variant, node)))
            text = ast.unparse(holder)
            if text not in seen:
                seen.add(text)
                yield f"{_short(node)} -> {_short(variant)}", _compiled(text, function)
            _put(parent, field, place, node)


def function_tree(function):
    """The definition of `function` without decorators, or the lambda, as a syntax tree of its own."""
    code, file = function.__code__, inspect.getsourcefile(function)
    for node in ast.walk(_parsed(file)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and _first_line(node) == code.co_firstlineno:
            if [argument.arg for argument in node.args.args] == list(code.co_varnames[: code.co_argcount]):
                found = copy.deepcopy(node)
                if isinstance(found, ast.FunctionDef):
                    found.decorator_list = []
                return found
    raise ValueError(f"{function.__name__} is not in {file}")


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


@functools.cache
def _parsed(file):
    return ast.parse(pathlib.Path(file).read_text(encoding="utf-8"))


def _compiled(text, function):
    space = dict(function.__globals__)
    with warnings.catch_warnings():  # some slips are nonsense that Python warns of
        warnings.simplefilter("ignore")
        if text.startswith("lambda"):
            return eval(text, space)
        exec(text, space)
    return space[function.__name__]


def _places(tree):
    """Every node below `tree`, and where it stands: parent, field, place in a list."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    # to reshape(-1), -2 is the same
    sizes = [argument for call in calls if call.func.attr == "reshape" for argument in call.args]
    left = {id(size.operand) for size in sizes if isinstance(size, ast.UnaryOp)}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for place, item in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(item, ast.AST) and id(item) not in left:
                    yield parent, field, place, item


def _put(parent, field, place, node):
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _short(node):
    if isinstance(node, ast.FunctionDef):
        return f"def {node.name}({', '.join(a.arg for a in node.args.args)})"
    return ast.unparse(node).split("\n")[0]


def _variants(node):
    """Yield the nodes that may stand in the place of `node`."""
    if isinstance(node, ast.BinOp):
        for operator in SWAPS.get(type(node.op), []):
            yield _with(node, op=operator())
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
            yield _with(node, left=node.right, right=node.left)
        yield node.left
        yield node.right
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        for operator in SWAPS.get(type(node.ops[0]), []):
            yield _with(node, ops=[operator(), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=SWAPS[type(node.op)][0]())
        yield from node.values
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value:
        yield from map(ast.Constant, _other_letters(node.value))
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield node.value
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield _with(node, attr=NAMES[node.attr])
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield _with(node, id=NAMES[node.id])
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value
    elif isinstance(node, ast.Slice):
        yield ast.Slice(None, node.upper, node.step)
        yield ast.Slice(node.lower, None, node.step)
    elif isinstance(node, ast.Tuple) and len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
        yield _with(node, elts=node.elts[::-1])
        for place in range(len(node.elts)):
            yield _with(node, elts=[node.elts[place]] * len(node.elts))
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and not _is_text(node.value):
        yield ast.Pass()
        if isinstance(node, ast.AugAssign):
            yield ast.Assign(targets=[node.target], value=node.value)
            for operator in SWAPS.get(type(node.op), []):
                yield _with(node, op=operator())
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield _with(node, test=ast.Constant(True))
        yield _with(node, test=ast.Constant(False))
    elif isinstance(node, (ast.FunctionDef, ast.Lambda)) and len(node.args.args) > 1:
        arguments = copy.deepcopy(node.args)
        arguments.args = [arguments.args[1], arguments.args[0], *arguments.args[2:]]
        yield _with(node, args=arguments)


def _calls(node):
    for place in range(len(node.keywords)):
        yield _with(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])
    if len(node.args) > 1:
        if ast.unparse(node.func).removeprefix("np.") not in COMMUTATIVE:
            yield _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
        for place in range(len(node.args)):
            yield _with(node, args=node.args[:place] + node.args[place + 1 :])
    if ast.unparse(node.func) == "range":
        for change in (ast.Add(), ast.Sub()):
            ends = [ast.BinOp(node.args[0], change, ast.Constant(1)), *node.args[1:]]
            yield _with(node, args=ends)
    for argument in node.args:  # the call left out
        if not isinstance(argument, ast.Starred) and not _is_text(argument):
            yield argument
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "np":
        yield node.func.value


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _with(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _other_letters(subscripts):
    """The subscripts of an einsum with two neighbouring letters of one array exchanged."""
    for place, (a, b) in enumerate(zip(subscripts, subscripts[1:])):
        if a.isalpha() and b.isalpha():
            yield subscripts[:place] + b + a + subscripts[place + 2 :]
