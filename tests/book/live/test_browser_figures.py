"""Figures that come alive: moved by pointer and by keyboard, with the numbers that the library computes here, and pictures else."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from running import Running, expect, has_python
from watched import Watched, accessibility

from attnlib.attention import attention_mask_backward
from attnlib.softmax import logsumexp, softmax
from tools import browser

ROOT = Path(__file__).resolve().parents[3]
# Alone, not by its folder: a stub of IPython lies beside it, for the page, and would be found by other tests.
_SPEC = importlib.util.spec_from_file_location("live_steps", ROOT / "book" / "live" / "python" / "live_steps.py")
live_steps = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(live_steps)

PAGES = {"fig-temperature": "01_softmax", "fig-plane": "02_attention", "fig-tiny": "04_masks"}


@pytest.fixture(scope="module")
def alive(request, chromium, address, site):
    """(id, figure, Running) of one page after its first cell has run: Python is there."""
    has_python(site)
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        running = Running(watched.open(f"chapters/{PAGES[request.param]}.html"))
        figure = watched.page.locator(f"#{request.param}")
        expect(figure.locator("img")).to_be_visible()
        assert figure.locator(".live-figure").count() == 0  # without Python it is the picture
        running.run(running.cell(1))
        expect(figure.locator(".live-figure")).to_be_visible()
        yield request.param, figure, running
        assert not watched.faults


def of(id):
    return pytest.mark.parametrize("alive", [id], indirect=True)


def begun(alive):
    """The figure with the book's numbers, and its page."""
    _, figure, running = alive
    if figure.get_by_role("button", name="As in the book").is_visible():
        figure.get_by_role("button", name="As in the book").click()
    return figure, running.page


def said(*numbers, digits):
    return ", ".join(f"{x:z.{digits}f}".replace("-", "\N{MINUS SIGN}") for x in numbers)


def press(slider, key, times):
    slider.focus()
    for _ in range(times):
        slider.press(key)


def drag(page, start, end):
    """From one place of the window to another, as a hand would: in steps."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()


def on(drawing, across, down, size):
    """The place in the window of a point of the drawing."""
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    return box["x"] + across * box["width"] / size[0], box["y"] + down * box["height"] / size[1]


@pytest.mark.parametrize("alive", PAGES, indirect=True)
def test_a_live_figure_is_accessible_fits_a_phone_and_is_a_picture_on_paper(alive):
    _, figure, running = alive
    page = running.page
    expect(figure.locator("img")).to_be_hidden()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            browser.settle(page)
            assert not accessibility(page), f"{width} px, {scheme}"
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert figure.evaluate("figure => figure.scrollWidth <= figure.clientWidth")
    page.emulate_media(color_scheme="light", media="print")
    expect(figure.locator("img")).to_be_visible()
    expect(figure.locator(".live-figure")).to_be_hidden()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1440, "height": 900})
    assert figure.locator("[aria-live], [role=status]").count() == 0  # the page's one region speaks for it


# Chapter 1


def temperature(scores, T):
    x = np.array(scores) / T
    weights = softmax(x)
    entropy = logsumexp(x) - weights @ x
    return f"T = {T:.2f}: the weights are {said(*weights, digits=3)}; their entropy is {entropy:.2f}, of at most 1.10."


@of("fig-temperature")
def test_scores_and_temperature_by_keyboard(alive):
    figure, page = begun(alive)
    sentence = figure.locator(".live-sentence")
    expect(sentence).to_have_text(temperature([2, 1, 0.1], 1))
    press(figure.get_by_label("score 2"), "ArrowRight", 5)
    expect(sentence).to_have_text(temperature([2, 1.5, 0.1], 1))
    expect(figure).to_contain_text("Your numbers; the caption speaks of the book's.")
    press(figure.get_by_label("temperature T"), "End", 1)
    expect(sentence).to_have_text(temperature([2, 1.5, 0.1], 100))
    expect(page.locator("#live-status")).to_have_text(temperature([2, 1.5, 0.1], 100))
    assert figure.get_by_label("temperature T").get_attribute("aria-valuetext") == "100.00"


@of("fig-temperature")
def test_the_temperature_by_pointer(alive):
    figure, page = begun(alive)
    drawing = figure.locator("svg.live-drawing")
    place = on(drawing, 54 + 458 / 3, 100, (528, 300))  # where the temperature is 1
    drag(page, place, on(drawing, 54 + 2 * 458 / 3, 100, (528, 300)))
    expect(figure.locator(".live-sentence")).to_have_text(temperature([2, 1, 0.1], 10))


# Chapter 2


def plane(query, keys):
    found = live_steps.plane(query, keys)
    weights = softmax(np.array(keys) @ query)
    assert np.allclose(found["weights"], weights) and np.allclose(found["output"], weights @ live_steps.VALUE)
    each = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(("cat", "mat", "sat"), weights))
    return f"Query ({said(*query, digits=2)}): the weights are {each}; the output is ({said(*found['output'], digits=2)})."


KEYS = [[1, 1], [1, -1], [-1, -1]]


@of("fig-plane")
def test_the_query_and_a_key_by_keyboard(alive):
    figure, page = begun(alive)
    sentence = figure.locator(".live-sentence")
    expect(sentence).to_have_text(plane([0.8, 1], KEYS))
    press(figure.get_by_label("alive?"), "ArrowLeft", 4)
    expect(sentence).to_have_text(plane([0.8, 0.8], KEYS))
    figure.get_by_role("radio", name="query").focus()
    page.keyboard.press("ArrowDown")
    assert figure.get_by_role("radio", name="key of cat").is_checked()
    press(figure.get_by_label("a thing?"), "Home", 1)
    expect(sentence).to_have_text(plane([0.8, 0.8], [[-1.6, 1], *KEYS[1:]]))


@of("fig-plane")
def test_the_query_and_a_key_by_pointer(alive):
    figure, page = begun(alive)
    drawing = figure.locator("svg.live-drawing")

    def at(x, y):
        return on(drawing, 52 + (x + 1.6) * 100, 8 + (1.6 - y) * 100, (504, 376))

    drag(page, at(0.8, 1), at(-0.5, 0.25))
    expect(figure.locator(".live-sentence")).to_have_text(plane([-0.5, 0.25], KEYS))
    drag(page, at(-1, -1), at(0, 3))  # out of the plane: it stays at the edge
    expect(figure.locator(".live-sentence")).to_have_text(plane([-0.5, 0.25], [*KEYS[:2], [0, 1.6]]))


# Chapter 4


def masked(keep, row):
    M = np.where(keep, 0, -np.inf)
    weights = softmax(live_steps.SCORES + M)
    gradient = attention_mask_backward(np.ones((4, 1)), np.arange(4.0)[:, None], weights, M)
    assert np.all(gradient[~keep] == 0) and np.allclose(gradient.sum(axis=-1), 0)
    if not keep[row].any():
        return f"Query {row} sees nothing: attnlib gives it the weights 0.00, 0.00, 0.00, 0.00."
    return f"Query {row}: weights {said(*weights[row], digits=2)}; gradient {said(*gradient[row], digits=2)}."


@of("fig-tiny")
def test_a_mask_by_keyboard(alive):
    figure, page = begun(alive)
    keep = np.tri(4, dtype=bool)
    expect(figure.locator(".live-sentence")).to_have_text(masked(keep, 1))
    figure.get_by_role("button", name="query 0, key 0").focus()
    page.keyboard.press("Space")  # the only key of its row
    keep[0, 0] = False
    expect(figure.locator(".live-sentence")).to_have_text(masked(keep, 0))
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    keep[1, 2] = True
    expect(figure.locator(".live-sentence")).to_have_text(masked(keep, 1))
    assert figure.locator("button.live-square[tabindex='0']").count() == 1
    grid = figure.locator(".live-cells.weights")
    expect(grid).to_have_attribute("aria-label", f"weights, {rows(softmax(live_steps.SCORES + np.where(keep, 0, -np.inf)))}")


def rows(matrix):
    return "; ".join(f"query {at}: {said(*row, digits=2)}" for at, row in enumerate(matrix))


@of("fig-tiny")
def test_a_mask_is_painted_by_pointer(alive):
    figure, page = begun(alive)
    figure.get_by_role("button", name="query 3, key 1").scroll_into_view_if_needed()
    start, end = (figure.get_by_role("button", name=f"query 3, key {key}").bounding_box() for key in (1, 3))
    drag(page, *((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (start, end)))
    keep = np.tri(4, dtype=bool)
    keep[3, 1:] = False
    expect(figure.locator(".live-sentence")).to_have_text(masked(keep, 3))
    figure.get_by_role("button", name="As in the book").click()
    expect(figure.get_by_role("button", name="query 3, key 2")).to_have_attribute("aria-pressed", "true")


@of("fig-temperature")
def test_when_the_readers_code_breaks_what_a_figure_needs_the_picture_is_back(alive):
    figure, page = begun(alive)
    running = alive[2]
    running.run(running.scratch, "import live_steps\nkept = live_steps.STEPS.pop('temperature')")
    press(figure.get_by_label("score 1"), "ArrowRight", 1)
    expect(figure.locator("img")).to_be_visible()
    running.run(running.scratch, "live_steps.STEPS['temperature'] = kept")
    running.run(running.scratch, "")  # with the next cell it is alive again
    expect(figure.locator("img")).to_be_hidden()


# A finger

DIRECTIONS = {"up": (0, -60), "down": (0, 60), "left": (-60, 0), "right": (60, 0)}


@pytest.fixture(scope="module")
def fingers(request, chromium, address, site):
    """(id, figure, Running) on a phone, after the page's first cell has run."""
    has_python(site)
    with Watched(chromium, address, 390, has_touch=True, is_mobile=True) as watched:
        running = Running(watched.open(f"chapters/{PAGES[request.param]}.html"))
        running.run(running.cell(1))
        figure = watched.page.locator(f"#{request.param}")
        expect(figure.locator(".live-figure")).to_be_visible()
        yield request.param, figure, watched
        assert not watched.faults


def swipe(watched, start, by):
    """A finger comes down, moves and goes up, as the browser hears of it: it may take the movement for its own scrolling."""
    session = watched.context.new_cdp_session(watched.page)
    for step in range(7):
        point = {"x": start[0] + by[0] * step / 6, "y": start[1] + by[1] * step / 6}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": [point]})
        browser.settle(watched.page)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()
    browser.settle(watched.page)


def middle(part):
    box = part.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def in_the_middle(figure, watched):
    """With room to scroll in both directions; returns how far the page is scrolled."""
    figure.evaluate("figure => figure.querySelector('.live-figure').scrollIntoView({ block: 'center', behavior: 'instant' })")
    browser.settle(watched.page)
    return watched.page.evaluate("scrollY")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("fingers", ["fig-plane"], indirect=True)
def test_a_finger_moves_a_point_in_every_direction_and_the_page_stays(fingers, direction):
    _, figure, watched = fingers
    if figure.get_by_role("button", name="As in the book").is_visible():
        figure.get_by_role("button", name="As in the book").tap()
    scrolled = in_the_middle(figure, watched)
    x, y = DIRECTIONS[direction]
    swipe(watched, middle(figure.locator("svg [data-at='3']")), (x, y))
    width = figure.locator("svg").bounding_box()["width"]
    moved = [round((where + change * 504 / width / 100) * 20) / 20 for where, change in zip((-1, -1), (x, -y))]
    keys = [*KEYS[:2], [max(-1.6, min(1.6, where)) for where in moved]]
    said = figure.locator(".live-sentence").inner_text()
    found = [plane([0.8, 1], [*KEYS[:2], [keys[2][0] + a / 20, keys[2][1] + b / 20]]) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    assert said in found and said != plane([0.8, 1], KEYS)
    assert abs(watched.page.evaluate("scrollY") - scrolled) < 2


@pytest.mark.parametrize("fingers", ["fig-plane"], indirect=True)
def test_a_finger_beside_the_points_scrolls_the_page(fingers):
    _, figure, watched = fingers
    scrolled = in_the_middle(figure, watched)
    box = figure.locator("svg").bounding_box()
    swipe(watched, (box["x"] + box["width"] / 2, box["y"] + 0.62 * box["height"]), (0, -60))
    assert watched.page.evaluate("scrollY") > scrolled + 20


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("fingers", ["fig-tiny"], indirect=True)
def test_a_finger_paints_a_mask_in_every_direction(fingers, direction):
    _, figure, watched = fingers
    if figure.get_by_role("button", name="As in the book").is_visible():
        figure.get_by_role("button", name="As in the book").tap()
    scrolled = in_the_middle(figure, watched)
    x, y = DIRECTIONS[direction]
    swipe(watched, middle(figure.locator("button.live-square").nth(5)), (x / 2, y / 2))
    pressed = figure.locator("button.live-square").evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-pressed') === 'true')")
    next_one = 5 + {"up": -4, "down": 4, "left": -1, "right": 1}[direction]
    assert not pressed[5] and not pressed[next_one]
    assert abs(watched.page.evaluate("scrollY") - scrolled) < 2


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("fingers", ["fig-temperature"], indirect=True)
def test_a_finger_moves_the_temperature(fingers, direction):
    _, figure, watched = fingers
    if figure.get_by_role("button", name="As in the book").is_visible():
        figure.get_by_role("button", name="As in the book").tap()
    in_the_middle(figure, watched)
    swipe(watched, middle(figure.locator("svg.live-drawing")), DIRECTIONS[direction])
    assert not re.match(r"T = 1\.00:", figure.locator(".live-sentence").inner_text())
