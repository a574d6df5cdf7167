"""attnexercises.engine.isolation: an answer that writes into the pipe neither runs code in the session nor passes."""

import json
import os
import pickle
import stat
import struct
import sys
import time

import numpy as np
import pytest
from answers import right

from attnexercises import check, grade
from attnexercises.engine import isolation, judge, plain_data, session, timelimit
from attnexercises.engine.registry import registry

pytestmark = pytest.mark.skipif(not isolation.possible(), reason="this system cannot copy a process")
RAN = []  # the session's own list: code that runs in the session can be seen here
FORGED = {"status": "passed", "lines": ("[x] softmax: all 11 cases right",), "passed": (), "failed": (), "mistakes": (),
          "hint": None, "claims": (), "case": None, "stopped": "", "printed": ()}  # fmt: skip


class RunsCode:
    """Unpickled, this evaluates an expression and becomes the forged result."""

    def __reduce__(self):
        return eval, (f"__import__('sys').modules[{__name__!r}].RAN.append('in the session') or {FORGED!r}",)


def pipes():
    """The pipes that this process holds, with their inodes."""
    found = {}
    for number in range(3, 1024):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        if stat.S_ISFIFO(status.st_mode):
            found[number] = status.st_ino
    return found


def writes(data, leave=True):
    """An answer that writes these bytes into every pipe that the session did not hold before."""
    before = set(pipes().values())

    def answer(x):
        for pipe, inode in pipes().items():
            if inode not in before:
                os.write(pipe, data)
        if leave:
            sys.modules["posix"]._exit(0)
        return x

    return answer


def framed(data):
    return struct.pack("!i", len(data)) + data


ATTACKS = {
    "a pickle as it was sent before": framed(pickle.dumps(RunsCode())),
    "a pickle on a line": pickle.dumps(RunsCode()) + b"\n",
    "a verdict": plain_data.text_of(FORGED).encode() + b"\n",
    "a verdict with outputs": plain_data.text_of(FORGED | {"outputs": (1, 2)}).encode() + b"\n",
    "a verdict with wrong outputs": plain_data.text_of(FORGED | {"outputs": ((np.zeros((2, 3, 5)),),) * 11}).encode() + b"\n",
    "no fields of a result": b'{"dict":{"status":"passed"}}\n',
    "a line without an end": b'{"dict":',
    "no text": b"\xff\xfe\n",
    "another class": b'{"Exercise":{"id":"softmax"}}\n',
}


@pytest.mark.parametrize("leave", [True, False], ids=["and ends", "and goes on"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_an_answer_writes_into_the_pipe_runs_no_code_and_is_no_pass(attack, leave, capsys):
    RAN.clear()
    check("softmax", writes(ATTACKS[attack], leave))
    said = capsys.readouterr().out
    assert not RAN
    assert said.startswith("[!] softmax: your function ") and "[x]" not in said
    if "line without" not in attack:
        assert "writes into the pipe" in said


def test_an_answer_that_begins_a_line_and_then_sleeps_is_stopped(monkeypatch):
    monkeypatch.setattr(timelimit, "WALL", 1.0)
    monkeypatch.setattr(isolation, "GRACE", 0.3)
    begins = writes(b'{"dict":', leave=False)

    def answer(x):
        begins(x)
        isolation.signal.pthread_sigmask(isolation.signal.SIG_BLOCK, range(1, 65))
        time.sleep(1e6)

    assert "has slept" in isolation.grade_apart("softmax", answer).lines[0]


def test_an_answer_finds_no_file_of_the_session(tmp_path):
    """The descriptors that it inherits are closed, so it cannot write into the session's files and sockets."""
    file = open(tmp_path / "session.txt", "w")

    def answer(x):
        os.write(file.fileno(), b"from the answer")
        return right(x)

    def lists(x):
        print(sorted(os.listdir("/proc/self/fd"), key=int))
        return x

    assert "Bad file descriptor" in isolation.grade_apart("softmax", answer).lines[0]
    open_there = isolation.grade_apart("softmax", lists, details=True).printed[0]
    assert len(eval(open_there)) == 5, open_there  # input, both outputs, the pipe, and the listed folder itself
    file.close()
    assert (tmp_path / "session.txt").read_text() == ""


# --- plain data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["softmax", "sdpa", "gqa", "causal_mask", "delta_sum"])
def test_a_result_comes_back_as_it_was(id):
    exercise = registry()[id]
    for mistake in exercise.mistakes[:4]:
        answer = exercise.family(frozenset({mistake.id}))
        answer = answer() if exercise.value else answer
        here, apart = grade(id, answer, details=True), isolation.grade_apart(id, answer, details=True)
        assert plain_data.text_of(plain_data.fields_of(here)) == plain_data.text_of(plain_data.fields_of(apart))
        assert here.claims == apart.claims and repr(here.case) == repr(apart.case)


@pytest.mark.parametrize("thing", [
    None, True, 3, -1.5, float("inf"), "ö\n", (1, ["x", ()]), np.arange(6).reshape(2, 3)[:, ::2], np.zeros((0, 3)),
    np.array(["ab", "c"]), np.float32(0.1), np.array([True]), {"a": (1,)},
])  # fmt: skip
def test_plain_data_comes_back_as_it_was(thing):
    read = plain_data.read(plain_data.text_of(thing))
    assert type(read) is type(thing) and repr(read) == repr(thing)


@pytest.mark.parametrize("thing", [
    print, object(), {1: 2}, np.array([print]), 1j, 10**5000, np.zeros(2, "M8[s]"), np.zeros(2, "i4,i4"), {"a": {1}},
], ids=lambda thing: type(thing).__name__)  # fmt: skip
def test_anything_else_is_not_sent(thing):
    with pytest.raises(plain_data.NotPlain):
        plain_data.text_of(thing)


@pytest.mark.parametrize("text", [
    "", "{", "[1]", '{"eval":"1"}', '{"tuple":3}', '{"float":"1"}', '{"array":{}}', '{"Result":{}}', '{"Case":{"x":1}}',
    '{"array":{"dtype":"O","shape":[1],"bytes":"AAAAAAAAAAA="}}', '{"array":{"dtype":"<f8","shape":[9],"bytes":"AAAA"}}',
    '{"size":[1,2,3,4,5]}', '{"a":1,"b":2}', "[" * 10**5,
])  # fmt: skip
def test_no_other_text_is_read(text):
    with pytest.raises(plain_data.NotPlain):
        plain_data.read(text)


def test_a_fault_of_the_judge_is_said_with_its_traceback_and_is_no_verdict(monkeypatch):
    monkeypatch.setattr(judge, "_judge", lambda *_: 1 / 0)
    result = isolation.grade_apart("softmax", right)
    assert result.status == "unattempted"
    assert "not judged: the check itself stops with ZeroDivisionError: division by zero." in result.lines[0]
    assert "lambda" in "\n".join(result.lines) and 'report("softmax")' in result.lines[-1]


def test_the_pipe_holds_json_lines():
    """What is sent is text that any program can read."""
    for line in plain_data.text_of(plain_data.fields_of(grade("softmax", lambda x: x, details=True))).splitlines():
        json.loads(line)


# --- no verdict by the clock, and none by other programs' memory --------------------------------------------


def killed(x):
    sys.modules["posix"].kill(os.getpid(), isolation.signal.SIGKILL)


def test_a_copy_that_the_system_ends_though_it_held_little_is_judged_again_and_then_not_judged(monkeypatch):
    forks = []
    copy = isolation._copy
    monkeypatch.setattr(isolation, "_copy", lambda *args: forks.append(1) or copy(*args))
    result = isolation.grade_apart("softmax", killed)
    assert len(forks) == 2
    assert result.status == "unattempted" and "other programs have used up the memory" in result.lines[0]
    monkeypatch.setattr(isolation, "MUCH", -(2**60))  # as if it had held more than anybody may
    assert "too much memory?" in isolation.grade_apart("softmax", killed).lines[0]


class Machine:
    """A clock on the wall, the thread's own, and how long it has waited for a processor, as a busy machine shows them."""

    def __init__(self, monkeypatch, computes, sleeps):
        self.wall, self.computes, self.sleeps = 0.0, computes, sleeps
        monkeypatch.setattr(timelimit, "_on_the_wall", lambda: self.wall)
        monkeypatch.setattr(timelimit, "computed", lambda: self.computes * self.wall)
        queued = lambda: (1 - self.computes - self.sleeps) * self.wall  # noqa: E731
        monkeypatch.setattr(timelimit, "_waited_for_a_processor", queued)

    def seconds_until_it_is_stopped(self):
        clock = timelimit._Clock(2.0)
        clock.left()
        while clock.left():
            self.wall += 1.0
        return self.wall, clock


@pytest.mark.parametrize("computes, sleeps, seconds, over", [
    (1.0, 0.0, 2, (2.0,)), (0.01, 0.0, 200, (2.0,)),  # it computes, on a machine of its own or on a busy one
    (0.0, 1.0, 60, (60.0, True)), (0.0, 0.5, 120, (60.0, True)),  # it sleeps
    (0.0, 0.0, 600, (600.0, True, True)),  # it never gets a processor: the last resort, which is no verdict
])  # fmt: skip
def test_a_busy_machine_makes_a_limit_come_later_and_never_earlier(monkeypatch, computes, sleeps, seconds, over):
    wall, clock = Machine(monkeypatch, computes, sleeps).seconds_until_it_is_stopped()
    assert (wall, clock._over) == (seconds, over)


def test_the_last_resort_is_no_verdict():
    result = judge.stopped(registry()["softmax"], "square", timelimit.TimeUp(600.0, True, True))
    assert result.status == "unattempted"
    assert result.lines[0].startswith('[ ] softmax: not judged: your function was still running after 600 seconds on the case "square"')


@pytest.mark.parametrize("state, computes, runs_on", [
    ("R", 0.0, 1500), ("S", 0.0, 25), ("R", 0.2, 25), ("D", 0.0, 1500), (None, 0.0, 25),
], ids=["in the queue", "asleep", "computes", "waits for a disk", "nobody counts"])  # fmt: skip
def test_a_thread_that_waits_for_a_processor_has_not_used_up_its_time(monkeypatch, state, computes, runs_on):
    """How many looks it takes to say that a thread runs on."""
    looks = []

    class Thread:
        join = looks.append
        is_alive = staticmethod(lambda: True)

    seen = lambda thread: (state, computes * len(looks)) if state else None  # noqa: E731
    monkeypatch.setattr(session, "_computed_by", seen)
    assert session._runs_on(Thread()) and abs(len(looks) - runs_on) <= 2
