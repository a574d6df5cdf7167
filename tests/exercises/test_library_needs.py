"""What an answer uses goes with it into the reader's file, or a sentence says why it cannot."""

import sys

import pytest
from library_cases import SDPA, SOFTMAX, Notebook, solved
from notebook_tools import unwrapped

from attnexercises import load, save
from attnexercises.own_library.definitions import defined
from attnexercises.own_library.on_disk import read


def saved(capsys, *ids):
    """What `save` says."""
    capsys.readouterr()
    save(*ids)
    return unwrapped(capsys.readouterr().out)


GOES_WITH_IT = {
    "nothing": (SOFTMAX, []),
    "a helper": (
        "def top(x):\n    return x.max(axis=-1, keepdims=True)\n"
        "def softmax(x):\n    e = np.exp(x - top(x))\n    return e / e.sum(-1, keepdims=True)",
        ["top"],
    ),
    "a helper's helper, with an underscore": (
        "def _largest(x):\n    return x.max(axis=-1, keepdims=True)\ndef _e(x):\n    return np.exp(x - _largest(x))\n"
        "def softmax(x):\n    return _e(x) / _e(x).sum(-1, keepdims=True)",
        ["_largest", "_e"],
    ),
    "two helpers that call each other": (
        "def even(x, n):\n    return np.exp(x) if n == 0 else odd(x, n - 1)\n"
        "def odd(x, n):\n    return even(x, n - 1)\n"
        "def softmax(x):\n    e = even(x - x.max(-1, keepdims=True), 2)\n    return e / e.sum(-1, keepdims=True)",
        ["odd", "even"],
    ),
    "names and a comment beyond ASCII": (
        "def größte(x):\n    return x.max(axis=-1, keepdims=True)  # μ, the maximum\n"
        "def softmax(x):\n    μ = größte(x)\n    return np.exp(x - μ) / np.exp(x - μ).sum(-1, keepdims=True)",
        ["größte"],
    ),
    "a constant": (
        "AXIS, SHIFT = -1, -np.inf\ndef softmax(x):\n    μ = np.maximum(SHIFT, x.max(AXIS, keepdims=True))\n"
        "    return np.exp(x - μ) / np.exp(x - μ).sum(AXIS, keepdims=True)",
        ["AXIS", "SHIFT"],
    ),
    "a default argument": (
        "AXIS = -1\ndef softmax(x, axis=AXIS):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
        "    return e / e.sum(axis, keepdims=True)",
        ["AXIS"],
    ),
    "imports": (
        "import math\nfrom functools import reduce\nfrom numpy import exp as e_to\nimport numpy.linalg as la\n"
        "def softmax(x):\n    e = e_to(x - reduce(max, [x.max(-1, keepdims=True)]))\n"
        "    return e / (la.norm(e, math.floor(1.5), axis=-1, keepdims=True))",
        [],
    ),
    "a decorator": (
        "import functools\ndef named(f):\n    @functools.wraps(f)\n    def inner(x):\n        return f(x)\n    return inner\n"
        f"@named{SOFTMAX}",
        ["named"],
    ),
    "a function with another name": (
        f"{SOFTMAX.replace('def softmax', 'def mine')}\nsoftmax = mine",
        ["mine"],
    ),
    "a lambda with a name": (
        "softmax = lambda x: np.exp(x - x.max(-1, keepdims=True)) / "
        "np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)",
        [],
    ),
    "a function in a branch": (
        "if True:" + SOFTMAX.replace("\n", "\n    ") + "\n",
        [],
    ),
    "tabs": (SOFTMAX.replace("    ", "\t"), []),
    "a function inside": (
        "def softmax(x):\n    def e(y):\n        return np.exp(y - x.max(-1, keepdims=True))\n"
        "    return e(x) / e(x).sum(-1, keepdims=True)",
        [],
    ),
}


@pytest.mark.parametrize("case", GOES_WITH_IT)
def test_what_it_uses_goes_with_it(case, own_file, capsys):
    source, helpers = GOES_WITH_IT[case]
    solved("softmax", source)
    names = sorted(set(defined(read(own_file).text)) - {"np"})
    assert names == []
    said = saved(capsys, "softmax")
    with_ = f" with {', '.join(helpers)}" if helpers else ""
    assert said == f"Saved: softmax{with_}, in my_attention.py, a new file in the folder course."
    imported = {"math", "functools", "reduce", "e_to", "la"}
    assert sorted(set(defined(own_file.read_text(encoding="utf-8"))) - {"np"} - imported) == sorted(["softmax", *helpers])
    assert load("softmax").__module__ == "my_attention"  # it passes from there
    capsys.readouterr()
    solved("softmax", source)
    assert "\n    my_attention.py has it.\n" in capsys.readouterr().out


CANNOT = {
    "a function of attnlib": (
        "from attnlib.softmax import softmax as S\ndef softmax(x):\n    return S(x)",
        "`S` in it comes from attnlib.softmax, but my_attention.py is to need NumPy alone. Write it out instead.",
    ),
    "a module of attnlib": (
        "import attnlib.softmax\ndef softmax(x):\n    return attnlib.softmax.softmax(x)",
        "`attnlib` in it is the module attnlib, but my_attention.py is to need NumPy alone. Write it out instead.",
    ),
    "attnlib within the function": (
        "def softmax(x):\n    from attnlib.softmax import softmax\n    return softmax(x)",
        "softmax imports attnlib, but a file of your own is to need NumPy alone.",
    ),
    "another package": (
        f"import pytest{SOFTMAX}    pytest.approx(1)",
        "`pytest` in it is the module pytest, but my_attention.py is to need NumPy alone. Write it out instead.",
    ),
    "an array": (
        "ones = np.ones(3)\ndef softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True)) * ones[0]\n"
        "    return e / e.sum(-1, keepdims=True)",
        "`ones` in it is a value of the kind ndarray from another cell: write it inside the function.",
    ),
    "a class": (
        "class Top:\n    of = staticmethod(lambda x: x.max(-1, keepdims=True))\n"
        "def softmax(x):\n    e = np.exp(x - Top.of(x))\n    return e / e.sum(-1, keepdims=True)",
        "`Top` in it is a class from another cell: write it inside the function.",
    ),
    "a closure": (
        "def make(axis):\n    def softmax(x):\n        e = np.exp(x - x.max(axis, keepdims=True))\n"
        "        return e / e.sum(axis, keepdims=True)\n    return softmax\nsoftmax = make(-1)",
        "`axis` in softmax belongs to another function around it: write a function that stands on its own.",
    ),
    "a decorator without wraps": (
        f"def named(f):\n    def inner(x):\n        return f(x)\n    return inner\n@named{SOFTMAX}",
        "`f` in inner belongs to another function around it: write a function that stands on its own.",
    ),
    "a partial": (
        "import functools\ndef general(x, axis):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
        "    return e / e.sum(axis, keepdims=True)\nsoftmax = functools.partial(general, axis=-1)",
        "A partial has no source to be saved: write a function with `def`.",
    ),
    "a lambda without a name": (
        "softmax = [lambda x: np.exp(x - x.max(-1, keepdims=True)) / "
        "np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)][0]",
        "The source of your lambda is not one definition: write it as a function, with `def`.",
    ),
    "two functions of one name": (
        "def top(x):\n    return x.max(-1, keepdims=True)\nfirst = top\ndef top(x):\n    return np.exp(x - first(x))\n"
        "def softmax(x):\n    return top(x) / top(x).sum(-1, keepdims=True)",
        "Two functions of yours are called top: give one of them another name.",
    ),
    "the book's own": (
        'from attnexercises import use\nsoftmax = use("softmax", TODO)',
        "That softmax is the book's own, not yours.",
    ),
}


@pytest.mark.parametrize("case", CANNOT)
def test_what_cannot_go_with_it_is_named_and_nothing_is_written(case, own_file, capsys):
    source, sentence = CANNOT[case]
    solved("softmax", source)
    assert "[x] softmax" in capsys.readouterr().out
    assert saved(capsys, "softmax") == f"Not saved: softmax. {sentence}"
    assert not own_file.exists()


def test_a_function_whose_source_nobody_keeps(own_file, capsys):
    notebook = Notebook()
    exec(SOFTMAX, notebook.space)  # as in a cell that begins with %%time
    notebook.run('check("softmax", softmax)')
    assert "Python cannot show the source of softmax: define it in a cell that does not begin" in saved(capsys, "softmax")
    assert not own_file.exists()


def test_what_ipython_adds_to_python_is_not_python(own_file, capsys, monkeypatch):
    def display(x):
        """As IPython puts it among the builtins."""

    display.__module__ = "IPython.core.display_functions"
    monkeypatch.setitem(sys.modules["builtins"].__dict__, "display", display)
    solved("softmax", f"{SOFTMAX}    display(e)")
    assert "`display` in it comes from IPython.core.display_functions, but" in saved(capsys, "softmax")


# --- one answer uses another ------------------------------------------------------------------------------


def test_a_function_of_the_library_is_replaced_by_ones_own(own_file, capsys):
    imported = "from attnlib.softmax import softmax"
    solved("sdpa", imported + SDPA)
    said = saved(capsys, "sdpa")
    assert said.endswith("is to need NumPy alone. Save your own softmax first.") and not own_file.exists()
    solved("softmax", SOFTMAX)
    save("softmax")
    assert saved(capsys, "sdpa") == "Saved: sdpa, in my_attention.py. It uses the softmax that is there."
    assert "attnlib" not in own_file.read_text()

    solved("sdpa", "from attnlib.softmax import softmax as rows\n" + SDPA.replace("softmax(", "rows("))
    assert saved(capsys, "sdpa").startswith("Saved: sdpa with rows, in my_attention.py. It uses the softmax that is there.")
    assert defined(own_file.read_text())["rows"] == "rows = softmax\n"


def test_an_earlier_answer_goes_with_a_later_one_unless_it_is_saved(own_file, capsys):
    notebook = solved("sdpa", SOFTMAX + SDPA)
    assert saved(capsys, "sdpa") == "Saved: sdpa with softmax, in my_attention.py, a new file in the folder course."
    other = SDPA.replace("return", "scale = np.sqrt(query.shape[-1])\n    return").replace(
        "np.sqrt(query.shape[-1]))", "scale)"
    )
    notebook.passes("sdpa", SOFTMAX.replace("e = ", "# again\n    e = ") + other)
    assert "It uses the softmax that is there." in saved(capsys, "sdpa")
    assert "# again" not in own_file.read_text()


def test_a_function_that_passes_with_the_librarys_softmax_alone_is_not_saved(own_file, capsys):
    """It is tried again from the file, where softmax is the reader's: and that one was spoilt meanwhile."""
    solved("softmax", SOFTMAX)
    save("softmax")
    own_file.write_text(own_file.read_text().replace("e / e.sum", "2 * e / e.sum"))
    before = own_file.read_bytes()
    solved("sdpa", "from attnlib.softmax import softmax" + SDPA)
    assert saved(capsys, "sdpa").startswith("Not saved: sdpa. It passed in the notebook but does not from the file: ")
    assert own_file.read_bytes() == before


def test_a_new_helper_must_not_break_an_older_function(own_file, capsys):
    shared = "def top(x):\n    return x.max(axis=-1, keepdims=True)\n"
    softmax = shared + SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "top(x)")
    solved("softmax", softmax)
    save("softmax")
    before = own_file.read_bytes()
    notebook = Notebook()
    notebook.run("def top(x):\n    return -x")
    notebook.passes("product_transpose", "def product_transpose(a_t, b, c_t):\n    return -top(c_t @ b.mT @ a_t)")
    said = saved(capsys, "product_transpose")
    assert said.startswith("Not saved: product_transpose. With it, softmax in my_attention.py would not pass any more: ")
    assert own_file.read_bytes() == before


def test_a_new_helper_must_not_take_the_name_of_a_builtin_from_an_older_function(own_file, capsys):
    solved("softmax", SOFTMAX.replace("x.max(axis=-1, keepdims=True)", "max([x.max(axis=-1, keepdims=True)], key=id)"))
    save("softmax")
    before = own_file.read_bytes()
    notebook = Notebook()
    notebook.run("def max(x):\n    return x")
    notebook.passes("product_transpose", "def product_transpose(a_t, b, c_t):\n    return max(c_t @ b.mT @ a_t)")
    assert "With it, softmax in my_attention.py would not pass any more" in saved(capsys, "product_transpose")
    assert own_file.read_bytes() == before
