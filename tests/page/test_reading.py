"""attnpage.reading: is the code that a chapter shows the code that runs?"""

import ast
import inspect
import re

from attnlib.flash import flash_attention, flash_attention_backward
from attnpage import reading
from attnlib.softmax import OnlineSoftmax, softmax


def code_of(text):
    """The code without docstrings and comments, as Python itself writes it."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.unparse(tree)


def test_only_the_docstring_is_left_out():
    shown = reading.source(softmax)
    assert '"""' not in shown
    assert code_of(shown) == code_of(inspect.getsource(softmax))


def test_docstrings_of_methods_are_left_out_too():
    shown = reading.source(OnlineSoftmax)
    assert '"""' not in shown and "def merge" in shown


def test_several_functions_are_shown_in_the_order_given():
    shown = reading.source(OnlineSoftmax.merge, softmax)
    assert shown.index("def merge") < shown.index("def softmax")


def test_helpers_are_those_of_the_same_file_and_what_they_call_in_turn():
    assert reading.source(softmax, helpers=True) == reading.source(softmax)  # it calls nothing in its own file
    shown = re.findall(r"^def (\w+)", reading.source(flash_attention, helpers=True), re.MULTILINE)
    assert shown == ["flash_attention", "_one_pass", "_all_is_small", "_are_moderate"]
    # It makes a _Part, too, which is a class.
    shown = re.findall(r"^(?:def|class) (\w+)", reading.source(flash_attention_backward, helpers=True), re.MULTILINE)
    assert shown == ["flash_attention_backward", "_recompute", "_weights_again", "_split", "_without_blur"]
    shown = re.findall(r"^def (\w+)", reading.show_source(reading.show_source, helpers=True).data, re.MULTILINE)
    assert shown == ["source", "show_source", "_with_helpers", "_names", "_without_docstrings"]


def test_comments_stay():
    assert "# both empty" in reading.source(OnlineSoftmax.merge)


def test_a_notebook_shows_it_as_python():
    shown = reading.show_source(softmax)
    assert shown.data == f"```python\n{reading.source(softmax)}\n```"
