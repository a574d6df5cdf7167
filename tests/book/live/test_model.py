"""book/live/model.py: a trained model for pages has half the bytes and fewer words, and says the same of those that stay."""

import base64
import csv
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
import small_model

from attnlib.pretrained import load_pretrained, read_safetensors
from book import live
from book.live import bundle, model
from tools.installing import model as minilm
from tools.installing import vendor_pyodide
from tools.site import build

ROOT = Path(__file__).resolve().parents[3]
PAIRS = ROOT / "chapters" / "data" / "pronoun_pairs.csv"


@pytest.fixture
def whole(tmp_path):
    return small_model.written(tmp_path / "whole")


@pytest.fixture(autouse=True)
def three_common_tokens(monkeypatch):
    """Of the small vocabulary the first three stay in any case: the, ##s, cat."""
    monkeypatch.setattr(model, "COMMON", 3)


def unpacked(files, folder):
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def pieces_of(files):
    by_id = {i: piece for piece, i in json.loads(files["tokenizer.json"])["model"]["vocab"].items()}
    return [by_id[i] for i in json.loads(files["config.json"])["kept_tokens"]]


# Which words stay


def test_needed_special_and_common_tokens_stay_and_no_others(whole):
    kept = pieces_of(model.release(whole, ["The dog sat!"]))
    assert kept == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "!", "a", "##b", "the", "##s", "cat", "dog", "sat"]


@pytest.mark.parametrize(("times", "stays"), [(2, False), (3, True)])
def test_a_word_stays_that_the_book_uses_often(whole, times, stays):
    assert ("rug" in pieces_of(model.release(whole, [], used=["on a rug"] * times))) == stays


def test_the_same_texts_give_the_same_bytes_in_any_order(whole):
    used = ["rug rug", "mat", "mat mat", "rug"]
    first = model.release(whole, ["dog", "sat"], used)
    assert first == model.release(whole, ["sat", "dog"], used[::-1])
    assert {"dog", "sat", "rug", "mat"} <= {*pieces_of(first)}


# What the smaller model says


def test_every_array_is_the_same_in_float16_but_for_rows_of_words(whole, tmp_path):
    files = model.release(whole, ["kitten"])
    before, after = (read_safetensors(folder / "model.safetensors") for folder in (whole, unpacked(files, tmp_path / "small")))
    assert list(before) == list(after)
    kept = json.loads(files["config.json"])["kept_tokens"]
    for name, array in before.items():
        expected = array[kept] if name == model.WORDS else array
        assert after[name].dtype == (np.float16 if array.dtype == np.float32 else array.dtype)
        np.testing.assert_array_equal(after[name], expected.astype(after[name].dtype))
    assert before[model.WORDS].shape != after[model.WORDS].shape


def test_it_runs_with_the_same_ids_and_nearly_the_same_numbers(whole, tmp_path):
    text = "The kitten sat on the mat!"
    full = load_pretrained(whole)
    small = load_pretrained(unpacked(model.release(whole, [text]), tmp_path / "small"))
    ids = full.tokenize(text)
    np.testing.assert_array_equal(small.tokenize(text), ids)
    (states, weights), (states_16, weights_16) = full.run(ids), small.run(ids)
    assert 0 < abs(states_16 - states).max() < 0.02 and 0 < abs(weights_16 - weights).max() < 0.02


def test_a_word_that_is_left_out_is_named_and_one_that_nobody_knows_is_unknown_as_ever(whole, tmp_path):
    small = load_pretrained(unpacked(model.release(whole, ["cat"]), tmp_path / "small"))
    with pytest.raises(ValueError, match=r"tokens of its vocabulary.*: kitten, on, rugs\."):
        small.tokenize("The kitten on the rugs")
    np.testing.assert_array_equal(small.tokenize("the qqq"), load_pretrained(whole).tokenize("the qqq"))


# The real model


@pytest.fixture(scope="module")
def sentences():
    """What the chapter runs the model on: its pairs, and the sentences that it compares."""
    if not minilm.SOURCE.target.is_dir():
        pytest.skip("the trained model is not here; run: make model")
    if not PAIRS.is_file():
        pytest.skip("there is no chapter that opens the model")
    with PAIRS.open(encoding="utf-8", newline="") as file:
        pairs = sorted({row["sentence"] for row in csv.DictReader(file)})
    return [*pairs, "A sleepy kitten rested on a rug.", "The dog slept on the carpet.", "The stock market fell sharply today."]


# Measured over every sixth: weights 0.0012, states 0.0036 of at most 5.9, similarities 0.0003.
@pytest.mark.parametrize("every", [16, pytest.param(3, marks=pytest.mark.thorough)])
def test_float16_moves_weights_by_a_thousandth_and_similarities_by_less(sentences, every, monkeypatch, tmp_path, record_property):
    monkeypatch.undo()  # as many common tokens as pages have
    full = load_pretrained(minilm.SOURCE.target)
    small = load_pretrained(unpacked(model.release(minilm.SOURCE.target, sentences), tmp_path / "small"))
    sentences = sentences[::-every][::-1]
    moved = {"states": 0.0, "weights": 0.0}
    for sentence in sentences:
        ids = full.tokenize(sentence)
        np.testing.assert_array_equal(small.tokenize(sentence), ids)
        for name, before, after in zip(moved, full.run(ids), small.run(ids), strict=True):
            moved[name] = max(moved[name], float(abs(after - before).max()))
    before, after = full.embed(sentences), small.embed(sentences)
    moved["similarities"] = float(abs(after @ after.T - before @ before.T).max())
    record_property("checked sentences in float16", len(sentences))
    assert 0 < moved["weights"] < 0.002 and moved["states"] < 0.006 and moved["similarities"] < 0.0006, moved


# Parts


def test_parts_are_small_and_make_the_files(whole, monkeypatch):
    monkeypatch.setattr(model, "LARGEST", 500)
    files = model.release(whole, ["mat"])
    found = model.parts(files)
    assert {name: b"".join(data for _, data in parts) for name, parts in found.items()} == files
    assert len(found["model.safetensors"]) > 5 and max(len(data) for parts in found.values() for _, data in parts) == 500
    names = [name for parts in found.values() for name, _ in parts]
    assert len(names) == len({*names}) and "config.json" in names and "model-1.safetensors" in names


def test_other_words_change_the_parts_with_words_alone(whole, monkeypatch, tmp_path):
    monkeypatch.setattr(model, "LARGEST", 1_000)

    def addresses(needed):
        given = live.placed(tmp_path / needed, model.release(whole, [needed]))
        return [address for parts in given["files"].values() for address, *_ in parts]

    first, second = addresses("mat"), addresses("mat on rug")
    assert addresses("mat ") == first
    changed = [old.rpartition("/")[2] for old, new in zip(first, second, strict=True) if old != new]
    words = [f"model-{number}.safetensors" for number in range(1, len(changed))]
    assert changed == ["config.json", *words] and len(first) >= len(changed) + 2


def test_the_site_gets_each_part_under_its_content_and_the_page_its_hash(whole, tmp_path):
    given = live.placed(tmp_path, model.release(whole, ["mat"]))
    for address, size, sha256 in (part for parts in given["files"].values() for part in parts):
        data = (tmp_path / address).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (size, sha256)
        assert re.fullmatch(r"_static/live/model-[0-9a-f]{10}/[\w.-]+", address)
    assert given["folder"] == "/course/_vendor/minilm" and given["needs"] == model.NEEDS


# Pages


def cell(code):
    return f'<div class="cell_input docutils container">\n<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>{code}\n</pre></div>\n</div>\n</div>'


@pytest.mark.parametrize(
    ("page", "needs"),
    [
        (cell('model <span class="o">=</span> <span class="n">load_pretrained</span><span class="p">(</span>folder<span class="p">)</span>'), [1]),
        (cell("arrays = read_safetensors(path)"), [1]),
        (cell("folder = &quot;../_vendor/minilm&quot;"), [1]),
        (cell("from attnlib.pretrained import load_pretrained"), []),
        (cell("softmax(scores)") + "<p>load_pretrained(folder)</p>", []),
        (cell("a, b = load_pretrained(f), 1") + cell("c = d") + cell("e = a") + cell("b = 2") + cell("b") + cell("def f(): e"), [1, 3, 6]),
        (cell("load_pretrained(") + cell("a = load_pretrained(f)"), [2]),
    ],
)
def test_a_cell_needs_the_model_if_it_calls_for_it_or_for_what_such_a_cell_made(page, needs):
    assert model.cells_that_need_it(code for code, _ in live.INPUT.findall(page)) == needs


def test_the_words_of_a_page_are_those_of_its_cells_their_outputs_and_its_data(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs.json").write_text('["zebra"]')
    (tmp_path / "data" / "more.json").write_text('["lion"]')
    cells = [{"source": ["a = open('data/pairs.json')\n", "b"], "outputs": [{"text": ["printed"]}, {"data": {}}]}, {"source": "said"}]
    for name in ("one", "two"):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": cells if name == "one" else [{"source": "other"}]}))
    (tmp_path / "page.md").write_text("a page")
    needed, used = model.texts(tmp_path, ["one", "running"])
    assert needed == ["a = open('data/pairs.json')\nb\nsaid\nprinted", '["zebra"]']
    assert used == [needed[0], "other", "a page"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"files": {"a": [["a", 11_600_000, ""]], "b": [["b", 8_000_000, ""], ["c", 5_000_000, ""]]}}, "a trained model, 25 MB."),
        ({}, "built without the trained model"),
    ],
)
def test_a_page_says_under_its_title_what_the_model_is_to_it(told, words):
    page = f"<head></head><article><h1>A</h1>{cell('x')}</article>"
    settings = {"folder": "_static/live/c/", "megabytes": 1}
    made = live.with_places(page, {**settings, "model": told}, "one")
    assert re.search(rf'<div class="live-head d-print-none"></div><p class="live-model d-print-none">[^<]*{words}', made)
    assert 'class="live-model' not in live.with_places(page, settings, "one")


def test_without_a_model_a_page_is_told_which_cells_need_it(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "ROOT", tmp_path)
    assert live.trained(tmp_path / "site", ["one"]) == {"needs": model.NEEDS}
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("changed", [False, True])
def test_a_build_with_a_model_that_is_not_whole_stops_before_the_site_is_touched(whole, tmp_path, monkeypatch, changed):
    monkeypatch.setattr(vendor_pyodide, "LIST", tmp_path / "nothing.sha256")
    (tmp_path / "nothing.sha256").write_text("")
    for folder in ("_vendor/pyodide", "_vendor/minilm", "html"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "html" / "index.html").write_text("the site")
    if changed:
        whole.rename(tmp_path / "_vendor" / "minilm")
    words = r"model\.safetensors has \d+ bytes where the list has 90868376" if changed else r"the file model\.safetensors is missing"
    with pytest.raises(build.BuildError, match=f"the trained model for the pages is not whole: {words}; run: make model"):
        build.build(tmp_path, tmp_path / "html")
    assert (tmp_path / "html" / "index.html").read_text() == "the site"


def test_the_zip_file_has_the_parts_in_a_script_and_the_page_says_so(whole, tmp_path, monkeypatch):
    site = tmp_path / "site"
    given = live.placed(site, model.release(whole, ["mat"]))
    for folder in ("python-1", "course-1", "../../chapters"):
        (site / "_static" / "live" / folder).mkdir(parents=True)
    (site / "_static" / "live" / "course-1" / "course.zip").write_bytes(b"")
    (site / "_static" / "live" / "course-1" / "files.json").write_text("{}")
    page = live.with_places(f"<head></head><article><h1>A</h1>{cell('x')}</article>", {"folder": "", "megabytes": 1, "model": given}, "one")
    (site / "chapters" / "one.html").write_text(page)
    monkeypatch.setattr(bundle, "offline_script", lambda *_: "")
    new, unneeded = bundle.offline(site, tmp_path)
    script = new["_static/live/course-1/offline-model.js"].decode()
    taken = json.loads(re.fullmatch(r"globalThis\.takenModel = (.*);\n", script)[1])
    parts = [address for parts in given["files"].values() for address, *_ in parts]
    assert {name: base64.b64decode(text) for name, text in taken.items()} == {Path(part).name: (site / part).read_bytes() for part in parts}
    assert {*parts} <= unneeded
    assert bundle.MODEL_TAKEN in new["chapters/one.html"].decode() and "asks you" not in new["chapters/one.html"].decode()
