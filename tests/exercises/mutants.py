"""Small slips in a function: every way to change one operator, constant, axis, argument or statement."""

import ast
import copy

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
COMMUTATIVE = {"max", "min", "maximum", "minimum"}


def mutants(source):
    """Yield (description, source) for every first-order mutant of the one function in `source`."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for number, node in enumerate(ast.walk(tree)):
        for variant in _variants(node):
            changed = copy.deepcopy(tree)
            target = list(ast.walk(changed))[number]
            _replace(changed, target, variant)
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text not in seen:
                seen.add(text)
                yield f"{_short(node)} -> {_short(variant)}", text


def _short(node):
    if isinstance(node, ast.FunctionDef):
        return f"def {node.name}({', '.join(a.arg for a in node.args.args)})"
    return ast.unparse(node).split("\n")[0]


def _replace(tree, target, variant):
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, variant)
                return
            if isinstance(value, list):
                for place, item in enumerate(value):
                    if item is target:
                        value[place] = variant
                        return


def _variants(node):
    """Yield the nodes that may stand in the place of `node`."""
    if isinstance(node, ast.BinOp):
        for operator in SWAPS.get(type(node.op), []):
            yield _with(node, op=operator())
        if not isinstance(node.op, (ast.Add, ast.Mult)):
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
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
        yield ast.Pass()
        if isinstance(node, ast.AugAssign):
            yield ast.Assign(targets=[node.target], value=node.value)
            for operator in SWAPS.get(type(node.op), []):
                yield _with(node, op=operator())
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield _with(node, test=ast.Constant(True))
        yield _with(node, test=ast.Constant(False))
    elif isinstance(node, ast.FunctionDef) and len(node.args.args) > 1:
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
    yield from node.args  # the call left out
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "np":
        yield node.func.value


def _with(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
