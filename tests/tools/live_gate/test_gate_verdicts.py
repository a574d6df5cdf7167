"""Every answer that the repository knows, right or wrong: the page's Python says to it what the repository's says."""

import json
import os
import subprocess
import sys

from gate_cases import LISTED, needs_the_site, unlisted_and_stale

from tools import live_gate

HERE = live_gate.HERE
NATIVE = "import json, sys, verdicts; json.dump(verdicts.given(), sys.stdout)"
PLACES = [live_gate.ROOT, HERE, live_gate.ROOT / "tests" / "exercises"]


@needs_the_site
def test_every_verdict_is_the_same(kit, record_property):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PLACES))}
    native = subprocess.Popen([sys.executable, "-c", NATIVE], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        there = live_gate.ask({"do": "verdicts"}, kit)
        here = json.loads(native.communicate()[0])
    finally:
        native.kill()
    assert here.keys() == there.keys() and len(here) > 2000
    differ = {name: [here[name], there[name]] for name in here if here[name] != there[name]}
    record_property("checked verdicts in the page's Python", len(here))
    unlisted, stale = unlisted_and_stale(differ, "verdict")
    assert not unlisted, {name: differ[name] for name in unlisted}
    until = {entry["name"]: tuple(map(int, entry["until"].split("."))) for entry in LISTED["verdict"]}
    stale = [name for name in stale if sys.version_info < until[name]]  # here runs the same Python: the same words
    assert not stale, f"listed in differences.toml, but the same: {stale}"
