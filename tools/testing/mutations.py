"""Every single change of a syntax tree that a test should notice: an operator, a constant, a keyword, a statement."""

import ast
import copy

SWAPPED_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.FloorDiv: ast.Div, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
SWAPPED_NAMES = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "sum": "prod", "exp": "expm1",
    "exp2": "exp", "log": "log1p", "isneginf": "isposinf", "isfinite": "isnan", "isnan": "isfinite",
    "argmax": "argmin", "any": "all", "all": "any", "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like",
    "tril": "triu", "triu": "tril", "cos": "sin", "sin": "cos", "sqrt": "square", "float32": "float64",
    "float64": "float32", "logical_and": "logical_or", "logical_or": "logical_and", "posinf": "nan",
}  # fmt: skip
REMOVABLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Raise, ast.Return, ast.For, ast.If)


def mutants(tree):
    """Yield (line, before, after, mutated tree) for every single change this script knows."""
    docstrings = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None
    }
    for path, node in _places(tree, ()):
        if isinstance(node, ast.AST):
            changes = [(node, changed, changed) for changed in _changes(node)]
        else:  # a list of statements: leave one out, or the `with` around some of them
            changes = []
            for i, statement in enumerate(node):
                if isinstance(statement, ast.With):
                    changes.append((statement, statement.body, node[:i] + statement.body + node[i + 1 :]))
                elif isinstance(statement, REMOVABLE) and id(statement) not in docstrings:
                    rest = node[:i] + node[i + 1 :] or [ast.Pass()]
                    changes.append((statement, ast.Pass(), rest))
        for before, after, changed in changes:
            if _unparse(before) != _unparse(after):
                mutated = ast.fix_missing_locations(_replaced(tree, path, changed))
                yield _line(before), _unparse(before), _unparse(after), mutated


def _places(node, path):
    # Every expression and every list of statements, with the way to it from the top.
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.arg)):
        return
    yield path, node
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "annotation", "returns", "bases"):
            continue
        if isinstance(value, list):
            if value and isinstance(value[0], ast.stmt):
                yield (*path, field), value
            for i, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _places(child, (*path, field, i))
        elif isinstance(value, ast.AST):
            yield from _places(value, (*path, field))


def _changes(node):
    def with_(**fields):
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, value)
        return changed

    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in SWAPPED_OPERATORS:
            yield with_(op=SWAPPED_OPERATORS[type(op)]())
            if isinstance(node, ast.BoolOp):
                yield from node.values
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield with_(ops=ops[:i] + [SWAPPED_OPERATORS[type(op)]()] + ops[i + 1 :])
        case ast.UnaryOp(operand=operand) if not isinstance(node.op, ast.UAdd):
            yield operand
        case ast.Constant(value=bool(value)):
            yield with_(value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield with_(value=value + 1)
            yield with_(value=value * 2)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            for i in range(len(keywords)):
                yield with_(keywords=keywords[:i] + keywords[i + 1 :])
                if keywords[i].arg == "axis":
                    axis = ast.keyword("axis", ast.Constant(0))
                    yield with_(keywords=keywords[:i] + [axis] + keywords[i + 1 :])
            if len(arguments) > 1:
                yield with_(args=[arguments[1], arguments[0], *arguments[2:]])
            if arguments and not isinstance(arguments[0], ast.Starred):
                yield arguments[0]
            if isinstance(function, ast.Attribute) and not isinstance(function.value, ast.Name):
                yield function.value
            elif isinstance(function, ast.Attribute) and function.value.id != "np":
                yield function.value
        case ast.Attribute(attr=name) if name in SWAPPED_NAMES:
            yield with_(attr=SWAPPED_NAMES[name])
        case ast.Attribute(attr="inf"):
            yield ast.Constant(0.0)
        case ast.Name(id=name) if name in ("max", "min", "any", "all"):
            yield with_(id=SWAPPED_NAMES[name])
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield with_(test=ast.UnaryOp(ast.Not(), test))
            if isinstance(node, ast.IfExp):
                yield node.body
                yield node.orelse
        case ast.Slice(lower=lower, upper=upper, step=step):
            for field, value in (("lower", lower), ("upper", upper), ("step", step)):
                if value is not None:
                    yield with_(**{field: None})
        case ast.comprehension(ifs=[_, *_]):
            yield with_(ifs=[])
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def _replaced(tree, path, changed):
    # Copy only along the path; the rest is shared, since nobody writes to it.
    if not path:
        return changed
    first, *rest = path
    result = copy.copy(tree)
    if isinstance(tree, list):
        result[first] = _replaced(tree[first], rest, changed)
    else:
        setattr(result, first, _replaced(getattr(tree, first), rest, changed))
    return result


def _unparse(node):
    nodes = node if isinstance(node, list) else [node]
    return "; ".join(" ".join(ast.unparse(n).split()) for n in nodes)


def _line(node):
    return getattr(node, "lineno", 0) or _line(next(ast.iter_child_nodes(node)))
