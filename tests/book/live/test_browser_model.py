"""A trained model in the page: asked for with its size, fetched in parts, compared, kept, put where Python looks for it.

The model is a small one of random weights, on a copy of the built site. There the first cells of chapter 1 have another
code, without Matplotlib; the fifth needs the model.
"""

import collections
import html
import json
import os
import re
import shutil
import threading
import zipfile
from pathlib import Path

import pytest
import small_model
from running import CHAPTER, Running, expect, has_python
from watched import Watched, accessibility

from attnlib.pretrained import load_pretrained
from book import live
from book.live import bundle, keep_list, model
from tools import browser
from tools.site import pack

TEXT = "The kitten sat on the mat!"
USES = f'from attnlib.pretrained import load_pretrained\nmodel = load_pretrained("../_vendor/minilm")\nprint(model.embed([{TEXT!r}])[0].round(3))'
CODES = ["import numpy as np", "a = 2", "b = 3", "c = a + b", USES, "print('next', len(model.tokenize('cat')))", "print(c)"]
NEEDS, NEXT, OTHER = 5, 6, 7  # numbers of cells
CELL = re.compile(r'(<div class="cell_input[^"]*">\n<div class="highlight-[^"]*"><div class="highlight"><pre>)(?:(?!</pre>).)*(</pre>)', re.S)
thorough = pytest.mark.thorough  # each of them starts Python anew
THERE = 'from pathlib import Path\nprint(*sorted(path.name for path in Path("../_vendor").glob("*/*")))'
NAMES = "config.json model.safetensors tokenizer.json"
BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { configurable: true, get() { throw new DOMException("denied", "SecurityError"); } });
}"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The files of the model as pages get them, and the folder of the whole one."""
    whole = small_model.written(tmp_path_factory.mktemp("model") / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "COMMON", 3)
        return model.release(whole, [TEXT]), whole


def copied(site, place, release):
    """A copy of the site whose chapter 1 needs a model: this release, or one that the site does not have."""
    shutil.copytree(site, place, copy_function=os.link)
    for parts in place.glob("_static/live/model-*"):  # of the book's own model
        shutil.rmtree(parts)
    page = place / CHAPTER
    text = page.read_text(encoding="utf-8")
    page.unlink()  # it is the same file as in the site
    codes = iter(CODES)
    text = CELL.sub(lambda found: found[1] + html.escape(next(codes)) + "\n" + found[2], text, count=len(CODES))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "LARGEST", 700)
        given = {"cells": [NEEDS, NEXT], **(live.placed(place, release) if release else {"needs": model.NEEDS})}
    text = bundle.SETTINGS.sub(lambda found: found[1] + json.dumps({**json.loads(found[2]), "model": given}) + found[3], text)
    text = text.replace('live-head d-print-none"></div>', f'live-head d-print-none"></div><p class="live-model">{live.about_model(given)}</p>')
    page.write_text(text, encoding="utf-8")
    for name in (keep_list.LIST, keep_list.SCRIPT):
        (place / name).unlink()
    keep_list.write(place)
    return place


@pytest.fixture(scope="module")
def with_model(site, release, tmp_path_factory):
    has_python(site)
    return copied(site, tmp_path_factory.mktemp("sites") / "with model", release[0])


@pytest.fixture(scope="module")
def without_model(site, tmp_path_factory):
    has_python(site)
    return copied(site, tmp_path_factory.mktemp("sites") / "without", None)


class Host:
    """Serves a copy of the site, counts the parts that it sends, and can spoil or hold them."""

    def __init__(self, place):
        self.place, self.sent, self.spoil, self.headers = place, collections.Counter(), {}, {}
        self.held = threading.Event()
        self.held.set()

    def __enter__(self):
        host = self

        class Handler(browser.Quiet):
            def do_GET(self):
                name = self.path.rpartition("/")[2]
                if "/model-" in self.path:
                    host.sent[name] += 1
                    host.held.wait()
                    if (answer := host.spoil.get(name)) is not None:
                        return answer(self, name)
                return super().do_GET()

            def end_headers(self):
                for header in host.headers.items():
                    self.send_header(*header)
                super().end_headers()

        self.serving = browser.served(self.place, Handler)
        self.address = self.serving.__enter__()
        return self

    def __exit__(self, *error):
        self.held.set()
        self.serving.__exit__(*error)


def altered(handler, name):
    """The part with its last byte changed."""
    data = Path(handler.translate_path(handler.path)).read_bytes()
    send(handler, data[:-1] + bytes([data[-1] ^ 1]))


def send(handler, data, length=None):
    handler.send_response(200)
    handler.send_header("Content-Length", str(length or len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def host(with_model):
    with Host(with_model) as host:
        yield host


@pytest.fixture
def page(chromium, host):
    """Chapter 1 of the copied site, with another code in its first cells."""
    with Watched(chromium, host.address, 1440, color_scheme="light") as watched:
        yield opened(watched)


def opened(watched):
    return Running(watched.open(CHAPTER))


def press(running, number=NEEDS):
    running.unfold(running.cell(number))
    running.cell(number).locator(".live-button").first.click()


def button(running, name):
    return running.page.get_by_role("button", name=re.compile(name))


def parts(place):
    return sorted(path.name for path in place.glob("_static/live/model-*/*"))


def asked(running):
    expect(button(running, "^Fetch")).to_be_visible()
    return running.page.locator(".live-ask").inner_text()


def agree(running):
    asked(running)
    button(running, "^Fetch").click()
    running.idle()


# Asked, fetched, had


@thorough
def test_it_is_asked_for_with_its_size_and_not_fetched_before_the_answer(page, host):
    before = page.shown(page.cell(NEEDS))
    expect(page.page.locator(".live-model")).to_have_text(re.compile(r"^This chapter opens a trained model, \d+ MB\. The page asks you before"))
    press(page)
    question = asked(page)
    assert question.startswith("To run the cell “from attnlib.pretrained import load_pre…”, this page needs the trained model.") and "1 MB" in question
    assert page.heard == " ".join(question.splitlines()[0].split())
    button(page, "Not now").click()
    page.idle()
    assert page.said.startswith("Without the trained model the cell “from attnlib")
    assert page.shown(page.cell(NEEDS)) == before and not host.sent
    expect(page.cell(NEEDS).locator(".live-row > .live-said")).to_contain_text("not run")


def test_after_yes_python_computes_with_it_and_the_next_visit_fetches_nothing(page, host, release, tmp_path):
    press(page)
    agree(page)
    folder = tmp_path / "small"
    folder.mkdir()
    for name, data in release[0].items():
        (folder / name).write_bytes(data)
    assert page.shown(page.cell(NEEDS)).split() == str(load_pretrained(folder).embed([TEXT])[0].round(3)).split()
    assert sorted(host.sent) == parts(host.place) and {*host.sent.values()} == {1}
    expect(page.page.locator(".live-model")).to_contain_text("The trained model is loaded.")
    host.sent.clear()
    page.page.reload()
    running = Running(page.page)
    assert "[" in running.run(running.cell(NEEDS)) and not host.sent
    assert running.run(running.scratch, THERE).strip() == NAMES


@thorough
def test_run_this_page_asks_under_the_title_and_goes_on_after_yes(page):
    page.page.locator(".live-head > .live-button").click()
    expect(page.page.locator(".live-head > .live-ask")).to_contain_text("this page needs the trained model")
    expect(page.page.locator(".live-head > .live-said")).to_have_text("Waiting for your answer")
    expect(page.cell(1).locator(".live-row > .live-said")).to_contain_text("ran in")
    button(page, "Not now").click()
    page.idle()
    expect(page.page.locator(".live-ask")).to_have_count(0)
    assert page.said.startswith("Without the trained model")
    page.page.locator(".live-head > .live-button").click()
    agree(page)
    assert page.shown(page.cell(NEXT)).strip() == "next 3"


@thorough
def test_a_cell_below_asks_too_and_python_anew_does_not_ask_again(page):
    assert page.run(page.cell(OTHER)).strip() == "5"  # it needs nothing of the model, and nothing is asked
    press(page, NEXT)
    expect(page.cell(NEXT).locator(".live-ask")).to_contain_text("To run the cell “from attnlib")
    agree(page)
    page.page.locator(".live-work > summary").click()
    button(page, "Restart Python").click()
    assert page.run(page.scratch, THERE).strip() == ""
    assert "[" in page.run(page.cell(NEEDS))


@thorough
def test_a_word_that_the_page_does_not_have_is_named(page):
    press(page)
    agree(page)
    shown = page.run(page.scratch, 'model.tokenize("The rug on the mat")')
    assert "ValueError: tokenize:" in shown and shown.strip().endswith(": rug.")


@thorough
@pytest.mark.parametrize("width", [1440, 390])
def test_the_question_is_accessible_and_fits(chromium, host, width):
    with Watched(chromium, host.address, width, color_scheme="light") as watched:
        running = opened(watched)
        press(running)
        asked(running)
        for scheme in ("light", "dark"):
            watched.page.emulate_media(color_scheme=scheme)
            browser.settle(watched.page)
            assert not accessibility(watched.page), scheme
        assert watched.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert not watched.faults


# What goes wrong


@thorough
@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("model-2.safetensors", altered, "The file model-2.safetensors on this site is not the one that belongs to the book, so it is not used."),
        ("tokenizer.json", altered, "The file tokenizer.json on this site is not the one that belongs to the book, so it is not used."),
        ("config.json", lambda handler, name: handler.send_error(404), "The file config.json is missing on this site (answer 404)."),
        ("model-3.safetensors", lambda handler, name: send(handler, b"half", 700), "The network was lost while model-3.safetensors was fetched."),
    ],
)
def test_a_wrong_part_is_named_nothing_of_the_model_is_used_and_a_second_try_fetches_what_is_missing(page, host, name, answer, words):
    host.spoil[name] = answer
    press(page)
    agree(page)
    assert words in page.said and words in page.page.locator(".live-ask").inner_text()
    assert page.run(page.scratch, THERE).strip() == ""  # Python goes on without it
    page.page.keyboard.press("Escape")
    host.spoil.clear()
    press(page)
    agree(page)
    assert "[" in page.shown(page.cell(NEEDS))


@thorough
def test_stop_while_it_asks_and_while_it_is_fetched(page, host):
    press(page)
    asked(page)
    button(page, "^Stop").first.click()
    page.idle()
    expect(page.page.locator(".live-ask")).to_have_count(0)
    assert page.said.startswith("Stopped after") and not host.sent
    host.held.clear()
    press(page)
    asked(page)
    button(page, "^Fetch").click()
    expect(page.page.locator(".live-model")).to_contain_text("asks you")
    button(page, "^Stop").first.click()
    page.idle()
    host.held.set()
    assert page.run(page.scratch, THERE).strip() == ""
    page.page.keyboard.press("Escape")
    press(page)
    agree(page)
    assert "[" in page.shown(page.cell(NEEDS))


@thorough
def test_a_browser_that_keeps_nothing_asks_each_time(chromium, host):
    host.headers["Cache-Control"] = "no-store"
    with Watched(chromium, host.address, 1440) as watched:
        watched.context.add_init_script(BLOCKED)
        for visit in (1, 2):
            running = opened(watched)
            press(running)
            agree(running)
            assert "[" in running.shown(running.cell(NEEDS)) and {*host.sent.values()} == {visit}
        assert not watched.faults


@thorough
def test_a_site_without_the_model_says_so_and_the_stored_output_stays(chromium, without_model):
    with browser.served(without_model) as address, Watched(chromium, address, 1440) as watched:
        running = opened(watched)
        expect(running.page.locator(".live-model")).to_have_text(live.MODEL_LACKS)
        before = running.shown(running.cell(NEEDS))
        running.run(running.cell(NEEDS))
        words = "This site was built without the trained model, so the cell “from attnlib.pretrained import load_pre…” cannot run here."
        assert running.said.startswith(words) and running.page.locator(".live-ask").inner_text().startswith(words)
        assert running.shown(running.cell(NEEDS)) == before
        assert running.run(running.cell(OTHER)).strip() == "5"  # it needs nothing of the model
        running.run_all()
        assert running.shown(running.cell(NEEDS)) == before
        assert not watched.faults


# Taken along


@thorough
def test_a_kept_book_has_the_model_and_does_not_ask(chromium, host):
    with Watched(chromium, host.address, 1440) as watched:
        running = Running(watched.open(CHAPTER))
        running.page.locator(".live-work > summary").click()
        button(running, "Keep for offline use").click()
        expect(running.page.locator(".live-head > .live-said")).to_have_text(re.compile(r"are kept, \d+ MB: this address opens without a network\.$"))
        running.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        watched.context.set_offline(True)
        running = opened(watched)
        assert "[" in running.run(running.cell(NEEDS))


@thorough
def test_the_zip_file_has_the_model_and_does_not_ask(chromium, with_model, tmp_path):
    pack.pack(with_model, tmp_path / "book.zip")
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        archive.extractall(tmp_path)
    with Watched(chromium, f"{(tmp_path / 'book').as_uri()}/", 1440) as watched:
        running = opened(watched)
        expect(running.page.locator(".live-model")).to_have_text(bundle.MODEL_TAKEN)
        assert "[" in running.run(running.cell(NEEDS))
        expect(running.page.locator(".live-model")).to_have_text("The trained model is loaded.")
        assert not watched.faults
        (script,) = (tmp_path / "book").glob("_static/live/course-*/offline-model.js")
        script.unlink()
        running = opened(watched)
        running.run(running.cell(NEEDS))
        assert running.said == "The file offline-model.js is missing or broken: unpack the whole zip file again."
