"""Reading, changing and running exercise notebooks in tests."""

import ast
import dis
import os
import re
import types

import nbformat
from nbclient import NotebookClient

HANGS = 600  # seconds on the wall for one cell: no verdict, only the end of a run that would never end

TAG = "exercise-"


def exercise_cells(notebook):
    """Return (id, cell) for every cell tagged ``exercise-<id>``."""
    return [
        (tag.removeprefix(TAG), cell)
        for cell in notebook.cells
        for tag in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and tag.startswith(TAG)
    ]


def with_answer(source, id, answer):
    """Return the cell source with the reader's function or value replaced by other code, which defines `id`."""
    call = re.search(rf'check\("{id}", (\w+)\)', source)
    if not call:
        raise AssertionError(f"the cell tagged {TAG}{id} has no check of {id}")
    name = call[1]
    if name != id:
        answer += f"\n{name} = {id}"
    kept, skipping, done = [], False, False
    for line in source.splitlines():
        if re.match(rf"def {name}\(|{name}\s*=", line):
            kept += [] if done else answer.splitlines()
            skipping = done = True
        elif not (skipping and (not line.strip() or line[0] in " \t)#")):
            skipping = False
            kept.append(line)
    if not done:
        raise AssertionError(f"the cell tagged {TAG}{id} defines no {name}")
    return "\n".join(kept)


def uses(notebook):
    """Every call ``use("id", name)`` in the cells of a notebook, as a node of the syntax tree."""
    code = [node for cell in notebook.cells if cell.cell_type == "code" for node in ast.walk(ast.parse(cell.source))]
    return [node for node in code if isinstance(node, ast.Call) and ast.unparse(node.func) == "use"]


def readers_names(notebook):
    """Statements outside the exercise cells that read what such a cell has defined, other than through `use`.

    A name counts as the reader's from the exercise cell on, until a statement gives it to something else. Names inside
    a function are its own, unless Python would look for them in the notebook.
    """
    exercises, readers, found = [cell for _, cell in exercise_cells(notebook)], set(), []
    for cell in notebook.cells:
        for statement in ast.parse(cell.source).body if cell.cell_type == "code" else ():
            read, bound = _names(statement)
            if cell in exercises:
                readers |= bound
                continue
            if read & readers:
                found.append(ast.unparse(statement))
            readers -= bound
    return found


class _WithoutUse(ast.NodeTransformer):
    """Take out the answer that is handed to `use`."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if ast.unparse(node.func) == "use":
            node.args[1] = ast.copy_location(ast.Constant(None), node.args[1])
        return node


def _names(statement):
    """The names of the notebook that a statement reads before it gives them to something, and those that it gives."""
    module = ast.Module([_WithoutUse().visit(ast.parse(ast.unparse(statement)).body[0])], [])
    read, bound = set(), set()
    for step in dis.get_instructions(compile(module, "cell", "exec")):
        if step.opname == "LOAD_NAME" and step.argval not in bound:
            read.add(step.argval)
        elif step.opname == "STORE_NAME":
            bound.add(step.argval)
        elif isinstance(step.argval, types.CodeType):
            read |= _looked_up(step.argval) - bound
    return read, bound


def _looked_up(code):
    """The names that a function, or one inside it, looks up in the notebook."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return names.union(*(_looked_up(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def run_in_kernel(notebook, folder, **environment):
    """Run all cells in a fresh kernel that works in `folder`, with these variables beside ours in its environment."""
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=HANGS, startup_timeout=HANGS, kernel_name="python3", resources=resources)
    client.execute(env={**os.environ, **environment})
    return notebook


def unwrapped(text):
    """What was printed, as one line: a message is one sentence, and where its lines end says nothing."""
    return " ".join(text.split())


def tiny_notebook(first="import numpy as np\nfrom attnexercises import TODO, check"):
    """A chapter with a function exercise and a value exercise, for testing the tests."""
    softmax = """def softmax(x):
    shifted = TODO  # every exponent at most 0
    exponentials = TODO

    return TODO


check("softmax", softmax)"""
    value = 'delta_sum = TODO\ncheck("delta_sum", delta_sum)'
    cells = [
        nbformat.v4.new_markdown_cell("# A tiny chapter\n\n## Weights"),
        nbformat.v4.new_code_cell(first),
        nbformat.v4.new_markdown_cell(
            '<a id="ex-softmax"></a>\n\n### Exercise 1.1: A softmax that no finite score can break\n\n'
            "*Easy · 10 minutes*\n\nWrite it."
        ),
        nbformat.v4.new_code_cell(softmax, metadata={"tags": ["exercise-softmax"]}),
        nbformat.v4.new_code_cell(
            'from attnexercises import use\nsoftmax = use("softmax", softmax)\n'
            "assert np.allclose(softmax(np.array([0.0, 0.0])), 0.5)"
        ),
        nbformat.v4.new_markdown_cell("### Exercise 1.2: A sum with a Kronecker delta\n\n*Easy · 3 minutes*\n\nAdd."),
        nbformat.v4.new_code_cell(value, metadata={"tags": ["exercise-delta_sum"]}),
        nbformat.v4.new_markdown_cell("## Recap\n\nThe end."),
    ]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)
