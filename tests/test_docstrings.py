"""Everything the library offers is documented: in sentences, in axis letters, with an example that runs."""

import ast
import importlib
import inspect
import pkgutil
import re

import pytest

import attnexercises
import attnlib
import attnpage

PACKAGES = [attnlib, attnpage, attnexercises]
MODULES = sorted(m.name for package in PACKAGES for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
# What a room hands on is public; what only its files share is not, nor is what only the library itself calls.
FOR_AUTHORS = {"attnlib.checks"}
ROOMS = [m.name for m in pkgutil.iter_modules(attnlib.__path__, "attnlib.") if m.name not in FOR_AUTHORS] + ["attnpage"]

# The letters of the legend in attnlib/__init__.py.
AXES = re.findall(r"^``(\w)``", attnlib.__doc__, re.MULTILINE)


def public_names():
    """Every public function and class of the library, and every method, as (name, object, class or None)."""
    for module_name in ROOMS:
        room = importlib.import_module(module_name)
        for name in room.__all__:
            member = getattr(room, name)
            if inspect.ismodule(member):  # attnpage.plotting, used under its own name
                for inner, function in vars(member).items():
                    if not inner.startswith("_") and getattr(function, "__module__", None) == member.__name__:
                        yield f"{member.__name__}.{inner}", function, None
            elif inspect.isfunction(member):
                yield f"{module_name}.{name}", member, None
            elif inspect.isclass(member):
                yield f"{module_name}.{name}", member, member
                for method_name, method in vars(member).items():
                    method = getattr(method, "__func__", method)
                    if not method_name.startswith("_") and inspect.isfunction(method):
                        yield f"{module_name}.{name}.{method_name}", method, member


PUBLIC = {name: (member, owner) for name, member, owner in public_names()}
FUNCTIONS = {name: member for name, (member, owner) in PUBLIC.items() if owner is None}
CLASSES = {name: member for name, (member, owner) in PUBLIC.items() if member is owner}
CALLABLES = {name: member for name, (member, owner) in PUBLIC.items() if member is not owner}


def cases(members):
    return pytest.mark.parametrize("member", members.values(), ids=members)


def sections(member):
    """The sections of a numpydoc docstring by title; what comes before the first is under ''."""
    lines = (inspect.getdoc(member) or "").splitlines()
    found, title = {"": []}, ""
    for line, below in zip(lines, [*lines[1:], ""]):
        if line and below == "-" * len(line):
            title = line
            found[title] = []
        elif not (line and set(line) == {"-"}):
            found[title].append(line)
    return found


def entries(section):
    """The entries `name : type` of a Parameters-like section, as a dict from name to type."""
    heads = [line for line in section if line and not line[0].isspace()]
    return {
        name.strip(): kind.strip()
        for names, _, kind in (head.partition(" : ") for head in heads)
        for name in names.split(",")
    }


def texts_of_entries(section):
    """The entries of a section, each with its description, as (head, whole text)."""
    blocks = []
    for line in section:
        if line and not line[0].isspace():
            blocks.append((line, line))
        elif blocks:
            head, text = blocks[-1]
            blocks[-1] = (head, f"{text} {line.strip()}")
    return blocks


def tree_of(function):
    return ast.parse(inspect.cleandoc("\n" + inspect.getsource(function))).body[0]


def calls_and_raises(function):
    tree = tree_of(function)
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(tree))
    names = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return raises or bool(names & {"as_float", "as_axis", "same_shape", "as_integer", "attention_inputs"})


def test_the_lint_looks_at_what_it_should():
    assert {"attnlib.softmax.softmax", "attnlib.softmax.OnlineSoftmax.update", "attnpage.plotting.heatmap"} <= set(CALLABLES)
    assert "attnlib.softmax.OnlineSoftmax" in CLASSES
    assert AXES == ["b", "h", "q", "k", "d", "v", "m", "n"]
    found = sections(importlib.import_module("attnlib.softmax").softmax)
    assert list(found) == ["", "Parameters", "Returns", "Raises", "References", "Examples"]
    assert entries(found["Parameters"]) == {"x": "array_like of shape (..., k)", "axis": "int, default -1"}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_for(name):
    doc = importlib.import_module(name).__doc__
    assert doc and doc.splitlines()[0].endswith((".", "?")), f"{name} needs a docstring that starts with one sentence"


@cases({name: member for name, (member, _) in PUBLIC.items()})
def test_a_docstring_starts_with_one_sentence(member):
    summary = (inspect.getdoc(member) or "").partition("\n\n")[0]
    assert summary.endswith((".", "?")) and summary.count("\n") < 2, f"starts with {summary!r}"


@cases(FUNCTIONS)
def test_every_parameter_is_documented(member):
    parameters = [
        "*" * (p.kind == p.VAR_POSITIONAL) + "**" * (p.kind == p.VAR_KEYWORD) + p.name
        for p in inspect.signature(member).parameters.values()
        if p.name not in ("self", "cls")
    ]
    section = sections(member).get("Parameters", [])
    assert sorted(entries(section)) == sorted(parameters)  # related ones may be described together
    bare = [head for head, text in texts_of_entries(section) if " : " not in head and "`" not in text]
    assert not bare, "every parameter needs its type, `name : type`, or where to look: As in `attention`"


@cases(FUNCTIONS)
def test_what_is_returned_is_documented(member):
    nodes = [n for n in ast.walk(tree_of(member)) if isinstance(n, ast.Return) and n.value is not None]
    if nodes:
        assert "".join(sections(member).get("Returns", [])).strip(), "needs a Returns section"


@cases(CALLABLES)
def test_what_is_raised_is_documented(member):
    if calls_and_raises(member):
        raised = entries(sections(member).get("Raises", []))
        assert raised, "needs a Raises section"
        known = {"TypeError", "ValueError", "KeyError", "IndexError", "RuntimeError", "FileNotFoundError", "MemoryError"}
        assert set(raised) <= known


def has_methods(member):
    return any(inspect.isfunction(getattr(m, "__func__", m)) for n, m in vars(member).items() if not n.startswith("_"))


@cases(FUNCTIONS | {name: member for name, member in CLASSES.items() if has_methods(member)})
def test_there_is_an_example_to_run(member):
    assert any(line.lstrip().startswith(">>>") for line in sections(member).get("Examples", [])), "needs an example"


@cases(CLASSES)
def test_every_field_of_a_class_is_documented(member):
    fields = list(getattr(member, "_fields", None) or getattr(member, "__dataclass_fields__", ()))
    if fields:
        found = sections(member)
        assert list(entries(found.get("Attributes", found.get("Parameters", [])))) == fields


@cases({name: member for name, (member, _) in PUBLIC.items() if not member.__module__.startswith("attnpage.")})
def test_shapes_are_written_in_axis_letters(member):
    found = sections(member)
    words = set(inspect.signature(member).parameters)  # of a class: its fields
    for title in ("Parameters", "Attributes", "Returns"):
        for head, text in texts_of_entries(found.get(title, [])):
            shapes = re.findall(r"\((\.\.\.[^()]*|[^()]*, [^()]*|\w,)\)", text)
            if re.search(r"\b(array_like|ndarray)\b", head):
                # Or it says whose array it is: "What `softmax` returned".
                assert shapes or re.search(r"of shape|of any shape|`\w+`", text), f"{title}: no shape in {text!r}"
            for shape in re.findall(r"of shape \(([^()]*)\)", text):
                letters = set(re.findall(r"[^\W\d]+", shape))
                assert letters <= {*AXES, *words}, f"{title}: the legend does not know {letters - set(AXES)} in {head!r}"
