"""attnexercises.reader.report: the block to paste into an issue, and the form that takes it."""

import platform
import socket
from pathlib import Path

import numpy as np
import pytest
import yaml
from library_cases import Notebook

import attnlib
from attnexercises import TODO, check, report
from attnexercises.reader.report import FIELDS

FORM = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE" / "exercise.yml"
WRONG = "def softmax(x):\n    secret = 2\n    return x @ x"


def printed(capsys, id="softmax", **options):
    capsys.readouterr()
    report(id, **options)
    return capsys.readouterr().out


def checked(source, id="softmax"):
    Notebook().passes(id, source)


def test_the_block_says_what_we_need_to_know_and_not_the_code(capsys):
    checked(WRONG)
    text = printed(capsys)
    start, block, end = text.split("```")
    assert start == "" and block.startswith("text\n") and 'report("softmax", source=True)' in end
    assert [line.partition(":")[0] for line in block.splitlines()[1:] if line[0] != " "] == list(FIELDS)
    assert "verdict: crashed (none named)\n" in block
    assert "  [!] softmax: your function stops with ValueError: " in block
    assert 'x (2, 3, 5)).\n' in block and "\ncase: x (" in block and '; from "all sizes differ"\n' in block
    versions = f"versions: attnlib {attnlib.__version__}, NumPy {np.__version__}, Python {platform.python_version()}\n"
    assert versions in block and block.endswith("\nsource: left out\n")
    assert "secret" not in text and "x @ x" not in text


def test_the_code_is_in_it_only_if_asked_for(capsys):
    checked(WRONG)
    text = printed(capsys, source=True)
    assert "source:\n  def softmax(x):\n      secret = 2\n      return x @ x\n```\n" in text
    assert "It stops in your line 3, `return x @ x`." in text and "source=True" not in text


def test_the_mistakes_that_were_named_are_named(capsys):
    checked("def softmax(x):\n    return np.exp(x)")
    assert "verdict: wrong (only_exp)\n" in printed(capsys)


def test_a_value_and_what_has_no_source(capsys):
    check("delta_sum", 3)
    assert "source: 3\n" in printed(capsys, "delta_sum", source=True) and "case: none\n" in printed(capsys, "delta_sum")
    check("softmax", np.exp)
    assert "source: Python cannot show it\n" in printed(capsys, source=True)
    check("softmax", TODO)
    assert "verdict: unattempted\n" in printed(capsys)


def test_without_a_check_there_is_nothing_to_report(capsys):
    assert printed(capsys) == "No answer to softmax was checked in this session: run its cell first.\n"
    with pytest.raises(ValueError, match="Did you mean 'softmax'"):
        report("softmx")


def test_nothing_leaves_the_machine(monkeypatch, capsys):
    def no_network(*args, **options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_network)
    checked(WRONG)
    assert "Nothing has been sent." in printed(capsys, source=True)


def test_the_form_is_one_that_the_forge_takes_and_names_the_same_fields():
    form = yaml.safe_load(FORM.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "title", "labels", "body"}
    code = Path(report.__code__.co_filename).read_text(encoding="utf-8").replace('\\"', '"')
    assert f'the form "{form["name"]}"' in code
    ids = []
    for item in form["body"]:
        assert item["type"] in ("markdown", "dropdown", "textarea")
        if item["type"] == "markdown":
            assert set(item["attributes"]) == {"value"}
        else:
            ids.append(item["id"])
            assert item["attributes"]["label"] and set(item) <= {"type", "id", "attributes", "validations"}
        if item["type"] == "dropdown":
            assert len(set(item["attributes"]["options"])) == len(item["attributes"]["options"]) > 1
    assert ids == ["what", "report", "mistake"]
    pasted = form["body"][2]["attributes"]["placeholder"].split()
    assert pasted == [f"{field}:" for field in FIELDS]
