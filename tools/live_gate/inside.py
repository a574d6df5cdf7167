"""What the gate does inside the site's Python: unit tests, one notebook, or verdicts. In and out go JSON texts."""

import contextlib
import io
import json
import os
import sys
import time
import types

TESTS = "/kit/tests"
# For pytest, which finds no threads and no signals here. It warns about the settings of the plugins that are left out.
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:threadexception", "-p", "no:unraisableexception"]
OPTIONS += ["-o", "addopts=--import-mode=importlib --strict-markers", "-W", "ignore:Unknown config option:pytest.PytestConfigWarning"]
OPTIONS += ["--tb=short", "--continue-on-collection-errors"]


def answer(request):
    """Do what is asked, `{"do": name, ...}`, and give back the JSON of what came out."""
    asked = json.loads(request)
    return json.dumps(DO[asked.pop("do")](**asked))


def unit_tests(paths, without, displays=False):
    """Run pytest on files of /kit/tests; return {node id: [outcome, why]} for every test.

    Do tests display something, as in a notebook? Where they don't, the checker shall print, as it does outside of notebooks.
    """
    import pytest

    sys.modules.update(stand_ins())
    if displays:
        import runtime

        runtime._post = lambda kind, content: None  # nobody sees it
    os.chdir("/kit")
    seen = _Seen()
    options = [*OPTIONS, *(f"--deselect={name}" for name in without)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = int(pytest.main([*options, *paths], plugins=[seen]))
    return {"code": code, "tests": seen.outcomes, "said": said.getvalue()[-4000:]}


class _Seen:
    """The outcome of each test, and of each file that could not be read."""

    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logstart(self, nodeid):
        print(nodeid, file=sys.__stderr__, flush=True)  # read where a test never ends

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = [report.outcome, _why(report)]

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self.outcomes[report.nodeid] = [report.outcome, _why(report)]


def _why(report):
    if report.outcome == "skipped":
        return str(report.longrepr[-1])
    return report.longreprtext[-1500:] if report.outcome == "failed" else ""


def stand_ins():
    """{name: module} of what test files import for notebooks: these are not run by pytest here, and only read."""
    plugin, nbval, nbformat, nbclient = (types.ModuleType(name) for name in ("nbval.plugin", "nbval", "nbformat", "nbclient"))
    plugin.IPyNbCell, nbclient.NotebookClient = type("IPyNbCell", (), {}), None
    nbformat.read = read_notebook
    return {"nbval": nbval, "nbval.plugin": plugin, "nbformat": nbformat, "nbclient": nbclient}


def read_notebook(path, as_version=4):
    """As `nbformat.read` does, which is not there."""
    return json.loads(path.read_text(encoding="utf-8"), object_hook=_Node.joined)


class _Node(dict):
    """A part of a notebook, with its fields as attributes and the lines of a source or an output as one text."""

    __getattr__ = dict.__getitem__

    @classmethod
    def joined(cls, fields):
        of_lines = {name for name in fields if name in ("source", "text") or name.startswith("text/") or name == "image/svg+xml"}
        return cls({name: "".join(value) if name in of_lines else value for name, value in fields.items()})


def notebook(cells):
    """Run the cells as the page does; return [outputs in the form of a notebook, seconds] of each."""
    import runtime

    happened = []
    runtime.start(lambda kind, content: happened.append((kind, json.loads(content))), lambda: None)
    os.environ.update(ATTNLIB_PROGRESS="off", ATTNLIB_LIBRARY="off")
    found = []
    for number, code in enumerate(cells, start=1):
        happened.clear()
        began = time.perf_counter()
        if code is not None:
            runtime.run(code, number)
        found.append([_outputs(happened), time.perf_counter() - began])
    return found


def _outputs(happened):
    outputs, waits = [], False
    for kind, content in happened:
        if kind == "limit":  # for the page alone
            continue
        if waits or kind == "clear":
            waits = kind == "clear" and content["wait"]
            if not waits:
                outputs.clear()
        if kind == "clear":
            continue
        last = outputs[-1] if outputs else {}
        if kind == "text" and last.get("name") == content["name"]:
            last["text"] += content["text"]
        elif kind == "text":
            outputs.append({"output_type": "stream", **content})
        elif kind == "data":
            outputs.append({"output_type": "display_data", "data": content})
        elif kind == "error":
            outputs.append({"output_type": "error", "ename": content["name"], "evalue": content["text"]})
        else:
            outputs.append({"output_type": "error", "ename": kind, "evalue": ""})
    return outputs


def all_verdicts():
    sys.path.insert(0, f"{TESTS}/exercises")
    os.environ.update(ATTNLIB_PROGRESS="off", ATTNLIB_LIBRARY="off")
    import verdicts

    return verdicts.given()


DO = {"unit_tests": unit_tests, "notebook": notebook, "verdicts": all_verdicts}
