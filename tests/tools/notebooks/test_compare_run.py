"""A notebook whose stored outputs were changed, run by pytest as the book's notebooks are: what a reader sees fails."""

import base64
import copy
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRST = """\
import sys

import matplotlib.pyplot as plt
from IPython.display import HTML, display

from attnpage import plotting
from attnpage.stepped import stepped_figure
from attnpage.tables import table

plotting.setup()


def draw(fig, step):
    _ = fig.subplots().plot([0, step, 1], color='#0072b2')
    return f"A line through {step}."
"""
NUMBER = "print(f'weight {0.5 * 0.5:.2f} of {0.0:.1f}, 3 keys')"
VALUE = "0.5 * 0.5"
TABLE = "table({'T': '.2f', 'error': '.1e'}, [(0.25, 2.5e-7), (0.5, 0.001)])"
FIGURE = """\
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot([0, 1, 1], '--', color='#0072b2', linewidth=2)
_ = ax.set_xlabel('key k')"""
STEPS = "stepped_figure(draw, [0.25, 0.5], label='Step', caption='A line.', figsize=(3, 2))"
SEVERAL = "print('one')\nprint('two', file=sys.stderr)\ndisplay(HTML('<p>three</p>'))\n'four'"
SILENT = "_ = 0"
ERROR = "raise ValueError('at 0.25')"
PICTURE = re.compile(r"(?<=data:image/svg\+xml;base64,)[\w+/=]+")
LABEL = re.compile(r'<g id="text_\d+">\s*<!-- key k -->.*?</g>\s*</g>', re.DOTALL)
POINT = re.compile(r"(?<=\nL )[\d.]+(?= [\d.]+ \nL [\d.]+ [\d.]+ \n\" clip-path)")  # the middle one of the line


def edited(edit):
    """A change of every text of the outputs and of every picture in them. It has to change something."""

    def in_address(match):
        return base64.b64encode(edit(base64.b64decode(match[0]).decode()).encode()).decode()

    def change(outputs):
        before = copy.deepcopy(outputs)
        for output in outputs:
            for holder in (output, output.get("data", {})):
                for key in {"text", "ename", "evalue", *output.get("data", ())} & set(holder):
                    holder[key] = edit(PICTURE.sub(in_address, holder[key]))
        assert outputs != before
        return outputs

    return change


def replaced(old, new):
    return edited(lambda text: text.replace(old, new))


def moved(by):
    return edited(lambda text: POINT.sub(lambda match: str(float(match[0]) + by), text))


def renamed(text):
    return re.sub(r"\b[mp][\da-f]{10}\b", r"\g<0>0", text)


# Of each: the source of a cell, a change of the outputs that are stored for it, and what pytest says of the cell


PASS = {
    "nothing changed": [(source, list) for source in (NUMBER, VALUE, TABLE, FIGURE, STEPS, SEVERAL, SILENT, ERROR)],
    "the last digit": [(source, replaced("0.25", "0.26")) for source in (NUMBER, VALUE)],
    "the last digit in a table": [(TABLE, replaced("2.5 ×", "2.4 ×")), (TABLE, replaced("0.50", "0.49"))],
    "the sign of zero": [(NUMBER, replaced("of 0.0", "of -0.0"))],
    "ids": [(FIGURE, edited(renamed)), (STEPS, edited(renamed))],
    "a point, 0.29 pt away": [(FIGURE, moved(0.29)), (FIGURE, moved(-0.29)), (STEPS, moved(0.29))],
}
FAIL = {
    "the last digit, by two": [(NUMBER, replaced("0.25", "0.27")), (VALUE, replaced("0.25", "0.27"))],
    "a word": [(NUMBER, replaced("weight", "weights"))],
    "a count": [(NUMBER, replaced("3 keys", "4 keys"))],
    "a cell of a table": [(TABLE, replaced("2.5 ×", "2.7 ×"))],
    "a power of ten": [(TABLE, replaced("\u22127", "\u22126"))],
    "a header cell": [
        (TABLE, edited(lambda text: text.replace('<th scope="row"', "<td", 1).replace("</th><td", "</td><td", 1)))
    ],
    "a row fewer": [(TABLE, edited(lambda text: re.sub(r"<tr>(?:(?!<tr>).)*0\.50.*?</tr>\n|\n0\.50.*", "", text)))],
    "a point, 0.31 pt away": [(FIGURE, moved(0.31)), (STEPS, moved(-0.31))],
    "a point, 1 % of the axis away": [(FIGURE, moved(1.7))],
    "a point fewer": [(FIGURE, edited(lambda text: re.sub(r"\nL [\d.]+ [\d.]+ (?=\n\" clip-path)", "", text)))],
    "a colour": [(source, replaced("stroke: #0072b2", "stroke: #0072b3")) for source in (FIGURE, STEPS)],
    "dashes": [(FIGURE, replaced("stroke-dasharray: 7.4,3.2", "stroke-dasharray: 7.4,3.3"))],
    "the width of a line": [(FIGURE, replaced("stroke-width: 2", "stroke-width: 1"))],
    "a label lost": [(FIGURE, edited(lambda text: LABEL.sub("", text)))],
    "a label": [(FIGURE, replaced("<!-- key k -->", "<!-- key q -->"))],
    "words for a picture": [(STEPS, replaced("A line through 0.5.", "A curve through 0.5."))],
    "an output missing": [(source, lambda outputs: outputs[:-1]) for source in (NUMBER, VALUE, FIGURE, SEVERAL)],
    "an output more": [(source, lambda outputs: outputs + outputs[-1:]) for source in (VALUE, FIGURE, STEPS, TABLE)],
    "an output of a silent cell": [
        (SILENT, lambda outputs: [nbformat.v4.new_output("stream", name="stdout", text="a")])
    ],
    "other outputs first": [
        (SEVERAL, lambda outputs: outputs[::-1]),
        (SEVERAL, lambda outputs: outputs[2:] + outputs[:2]),
    ],
    "a kind missing": [(TABLE, lambda outputs: [outputs[0]["data"].pop("text/html")] and outputs)],
    "stderr": [(SEVERAL, replaced("two", "too")), (SEVERAL, lambda outputs: outputs[:1] + outputs[2:])],
    "an error": [
        (ERROR, replaced("ValueError", "TypeError")),
        (ERROR, replaced("0.25", "0.26")),
        (ERROR, lambda outputs: []),
    ],
}
CASES = [("passed", name, case) for name in PASS for case in PASS[name]]
CASES += [("failed", name, case) for name in FAIL for case in FAIL[name]]
NAMES = [f"{name}-{number}" for number, (_, name, _) in enumerate(CASES)]


def cell(source, outputs=(), count=1):
    tags = {"tags": ["raises-exception"]} if source == ERROR else {}
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=tags)


@pytest.fixture(scope="module")
def stored():
    """The outputs of each source, from one run of all of them."""
    sources = list(dict.fromkeys(source for _, _, (source, _) in CASES))
    notebook = nbformat.v4.new_notebook(cells=[cell(source) for source in (FIRST, *sources)])
    client = nbclient.NotebookClient(notebook, kernel_name="python3", extra_arguments=["--IPKernelApp.log_level=40"])
    client.execute(env=os.environ | {"PYTHONPATH": str(ROOT)})
    return {each.source: each.outputs for each in notebook.cells}


def checked(folder, stored, cases, *options):
    """What pytest says of each case, as a cell of one notebook: None if it passed, else the message."""
    cells = [cell(source, change(copy.deepcopy(stored[source]))) for _, _, (source, change) in cases]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell(FIRST), *cells]), folder / "changed.ipynb")
    shutil.copy(ROOT / "conftest.py", folder)
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "--junitxml=said.xml", *options, "."]
    subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, timeout=1800)
    first, *rest = (result.findtext("failure") for result in ElementTree.parse(folder / "said.xml").iter("testcase"))
    assert first is None and len(rest) == len(cases)
    return rest


@pytest.fixture(scope="module")
def said(stored, tmp_path_factory):
    return checked(tmp_path_factory.mktemp("said"), stored, CASES, "--color=no")


@pytest.mark.parametrize(("place", "expected"), [(place, case[0]) for place, case in enumerate(CASES)], ids=NAMES)
def test_the_outputs_of_a_cell(said, place, expected):
    message = said[place]
    if expected == "passed":
        assert message is None, message
    else:
        assert "Cell outputs differ" in message
        sentence = message.split("Traceback:")[1].strip()
        assert re.match(r"output \d", sentence) and len(sentence) < 300 and "\n" not in sentence, sentence


def test_figures_without_layout(stored, tmp_path):
    kept = [
        case
        for case in CASES
        if case[1] in ("a point, 0.31 pt away", "a point fewer", "a colour", "a label", "a count")
    ]
    said = checked(tmp_path, stored, kept, "--figures-without-layout")
    passed = {name for (_, name, _), message in zip(kept, said, strict=True) if message is None}
    failed = {name for (_, name, _), message in zip(kept, said, strict=True) if message is not None}
    assert passed == {"a point, 0.31 pt away", "a point fewer"}
    assert failed == {"a colour", "a label", "a count"}
