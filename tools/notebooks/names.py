"""Can a reader run any cell again? A name means one thing in a chapter, and no cell changes what another cell has made.

A cell may use a name for itself as often as it likes. A name that a cell takes from elsewhere has to come from one cell
only; otherwise the result depends on which of the cells ran last. For the same reason no cell may change an array of
another cell, or draw from its random generator: run again, it would change it, or draw, a second time.
"""

import ast
import builtins

CHANGES = {"append", "extend", "insert", "update", "pop", "clear", "sort", "reverse", "add", "remove", "setdefault"}


class Names(ast.NodeVisitor):
    """The names that a cell binds, takes from other cells, and changes there; inside functions only what is taken."""

    def __init__(self, source):
        self.bound, self.taken, self.changed = set(), {}, {}
        self.imported, self.generators = set(), set()
        self.inner = []  # the names of the functions that are being read, innermost last
        self._later = {}  # what functions take: they may be called when the cell has bound it
        self.visit(ast.parse(source))
        for name, line in self._later.items():
            if name not in self.bound:
                self.taken.setdefault(name, line)

    def _is_here(self, name):
        return name in self.bound or any(name in names for names in self.inner)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            if not self._is_here(node.id):
                (self._later if self.inner else self.taken).setdefault(node.id, node.lineno)
        elif not self.inner:
            self.bound.add(node.id)
        elif not isinstance(node.ctx, ast.Del):
            self.inner[-1].add(node.id)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self._change(target)
            self.visit(target)
        made = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(made, ast.Attribute) and made.attr == "default_rng" and not self.inner:
            self.generators |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)
            self.visit(node.target)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        self._change(node.target)
        if isinstance(node.target, ast.Name) and not self._is_here(node.target.id):
            self.changed.setdefault(node.target.id, node.lineno)

    def visit_NamedExpr(self, node):
        self.visit(node.value)
        self.visit(node.target)

    def visit_For(self, node):
        self.visit(node.iter)
        self.visit(node.target)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def _change(self, target):
        """``x[...] = …``, ``x.name = …`` and ``x += …`` change what `x` is."""
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
            if isinstance(target, ast.Name) and not self._is_here(target.id):
                self.changed.setdefault(target.id, target.lineno)

    def visit_Expr(self, node):
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CHANGES:
            self._change(call.func)
        self.visit(call)

    def _function(self, node, body):
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        named = {each.arg for each in every if each}
        inside = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
        self.inner.append(named | inside)
        for part in body:
            self.visit(part)
        self.inner.pop()

    def visit_FunctionDef(self, node):
        for decorator in node.decorator_list:
            self.visit(decorator)
        (self.inner[-1] if self.inner else self.bound).add(node.name)
        self._function(node, node.body)

    def visit_Lambda(self, node):
        self._function(node, [node.body])

    def visit_ClassDef(self, node):
        for part in (*node.bases, *node.decorator_list):
            self.visit(part)
        (self.inner[-1] if self.inner else self.bound).add(node.name)
        self.inner.append(set())
        for part in node.body:
            self.visit(part)
        self.inner.pop()

    def _comprehension(self, node):
        self.visit(node.generators[0].iter)
        self.inner.append(set())
        for place, generator in enumerate(node.generators):
            if place:
                self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.inner.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def visit_Import(self, node):
        names = {(each.asname or each.name).split(".")[0] for each in node.names}
        self.imported |= names
        (self.inner[-1] if self.inner else self.bound).update(names)

    visit_ImportFrom = visit_Import


def check_names(notebook):
    """{cell id: what is wrong with its names, as a list of sentences}."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names = {cell.id: Names(cell.source) for cell in cells}
    homes = {}
    for cell in cells:
        for name in names[cell.id].bound:
            homes.setdefault(name, []).append(cell.id)
    found = {cell.id: [] for cell in cells}
    for cell in cells:
        here = names[cell.id]
        for name in here.taken:
            elsewhere = [home for home in homes.get(name, []) if home != cell.id]
            if not elsewhere or hasattr(builtins, name):
                continue
            makers = homes[name]
            if len(makers) > 1:
                found[cell.id].append(f"takes {name!r}, which {len(makers)} cells bind: {', '.join(makers)}")
            elif name in names[makers[0]].generators:
                found[cell.id].append(f"draws from {name!r} of cell {makers[0]}; run again it draws other numbers")
        for name in here.changed:
            home = next((home for home in homes.get(name, []) if home != cell.id), cell.id)
            if home != cell.id and name not in names[home].imported:
                found[cell.id].append(f"changes {name!r} of cell {home}; run again it changes it twice")
    return found
