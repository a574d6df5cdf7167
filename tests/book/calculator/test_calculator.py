"""The calculator of shapes and costs: its numbers are those of attnlib.costs, its complaints name a field."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from attnlib import costs

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "book" / "calculator" / "calculator.js"
ASK = """((shapes) => shapes.map((shape) => {
    const wrong = costCalculator.fault(shape);
    if (wrong) return [wrong.name, wrong.text];
    return Object.fromEntries(Object.entries(costCalculator.count(shape)).map(([name, n]) => [name, n.toString()]));
}))"""
MODEL = {"layers": 32, "m": 4096, "heads": 32, "kv_heads": 32, "d": 128, "hidden": 11008, "mlp_matrices": 3}
MODEL |= {"vocabulary": 32000, "embeddings": 2, "n": 4096, "batch": 1, "bytes": 2, "latent": 576, "block_q": 128}
MODEL = {name: str(value) for name, value in MODEL.items()}


def in_node(source, shapes):
    said = f"console.log(JSON.stringify({ASK}({json.dumps(shapes)})))"
    code = f"globalThis.document = {{ querySelectorAll: () => [] }};\n{source}\n{said}"
    return json.loads(subprocess.run(["node", "-"], input=code, text=True, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def ask(request):
    """What the very script of the page says of shapes: in Node if it is there, else in the browser."""
    source = SCRIPT.read_text(encoding="utf-8")
    if shutil.which("node"):
        yield lambda shapes: in_node(source, shapes)
        return
    page = request.getfixturevalue("chromium").new_page()
    run = "([source, shapes]) => (0, eval)(source)(shapes)"
    yield lambda shapes: page.evaluate(run, [f"{source}\n{ASK}", shapes])
    page.close()


def counted(shape):
    """The same from the library."""
    s = {name: int(value) for name, value in shape.items()}
    dtype = {1: "int8", 2: "float16", 4: "float32", 8: "float64"}[s["bytes"]]
    heads, n, d, batch = s["heads"], s["n"], s["d"], s["batch"]
    model = {name: s[name] for name in ("kv_heads", "hidden", "mlp_matrices", "vocabulary")}
    learned = costs.count_model_parameters(s["layers"], s["m"], heads, d, embeddings=s["embeddings"], **model)
    flops = costs.count_model_flops(n, s["layers"], s["m"], heads, d, batch=batch, **model)
    many = {"batch": batch, "heads": heads, "dtype": dtype}
    keys = {"_own": heads, "": s["kv_heads"], "_one": 1}
    cache = {which: costs.kv_cache_bytes(batch, s["layers"], n, g, d, dtype=dtype) for which, g in keys.items()}
    return {
        "parameters": learned.total,
        **{f"parameters_{part}": getattr(learned, part) for part in learned._fields},
        "parameter_bytes": learned.total * s["bytes"],
        "flops": flops.total,
        **{f"flops_{part}": getattr(flops, part) for part in flops._fields},
        "scores_plain": costs.score_bytes(n, n, **many),
        "scores_flash": costs.score_bytes(n, n, method="flash", **many),
        **{f"cache{which}": size for which, size in cache.items()},
        "cache_latent": costs.latent_cache_bytes(batch, s["layers"], n, s["latent"], dtype=dtype),
        "traffic_plain": costs.count_bytes(n, n, d, **many),
        "traffic_flash": costs.count_bytes(n, n, d, method="flash", block_q=s["block_q"], **many),
    }


def random_shapes():
    """Small ones, and ones whose counts are far beyond 2^53; the tiles of a text stay few enough to count."""
    draw = random.Random(16)
    for large in [False] * 60 + [True] * 60:
        size = {name: draw.randint(1, 10**9 + 7 if large else 99) for name in MODEL}
        size |= {"bytes": draw.choice([1, 2, 4, 8]), "heads": size["kv_heads"] * draw.randint(1, 9)}
        if large:
            size["block_q"] = size["n"] // draw.randint(1, 50) + 1
        if draw.random() < 0.2:
            size |= {"hidden": 0, "vocabulary": 0}
        yield {name: str(value) for name, value in size.items()}


def test_every_number_is_that_of_the_library(ask):
    shapes = [MODEL, *random_shapes()]
    for shape, said in zip(shapes, ask(shapes), strict=True):
        assert {name: int(value) for name, value in said.items()} == counted(shape), shape
    assert max(int(value) for said in ask(shapes) for value in said.values()) > 2**100


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("m", "", "Model width m: type a number."),
        ("n", "   ", "Tokens of a text n: type a number."),
        ("layers", "0", "Layers: must be at least 1; it says 0."),
        ("d", "-3", "Features of a head d: cannot be negative; it says -3."),
        ("batch", "1.5", "Texts b: type a whole number in digits; it says “1.5”."),
        ("bytes", "two", "Bytes of a number: type a whole number in digits; it says “two”."),
        ("n", "4,096", "Tokens of a text n: type a whole number in digits; it says “4,096”."),
        ("kv_heads", "5", "Key/value heads G: 5 does not divide the 32 query heads."),
        ("kv_heads", "64", "Key/value heads G: 64 does not divide the 32 query heads."),
        ("layers", 14 * "9", "Layers: that is too large; the most is 1,000,000,000,000."),
    ],
)
def test_what_cannot_be_counted_is_said_with_its_field(name, value, said, ask):
    assert ask([MODEL | {name: value}]) == [[name, said]]


def test_its_models_are_those_of_the_page():
    source = SCRIPT.read_text(encoding="utf-8")
    presets = {name: json.loads(values) for name, values in re.findall(r'^    "(.+)": (\[[\d, ]+\]),$', source, re.M)}
    assert len(presets) == 5
    notebook = nbformat.read(ROOT / "chapters" / "costs.ipynb", as_version=4)
    (shapes,) = (cell.source for cell in notebook.cells if cell.id == "models-shapes")
    found = {}
    exec(shapes.partition("rows = ")[0], found)
    assert presets == {name: list(shape) for name, shape in found["models"].items()}
