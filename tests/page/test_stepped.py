"""attnpage.stepped: does the slider show every step, in pictures and in words, with nothing from outside?"""

import base64
import re

import matplotlib.pyplot as plt
import pytest

from attnpage import plotting, stepped_figure


def draw(fig, step):
    fig.subplots().bar([0], [step])
    return f'A bar <of height> "{step}".'


@pytest.fixture(scope="module")
def shown():
    with plt.rc_context():
        plotting.setup()
        yield stepped_figure(draw, [1, 2, 3], label="Height", caption="It grows & grows.").data


def test_each_step_has_its_picture_and_the_words_of_its_picture(shown):
    pictures = re.findall(r'alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]*)"', shown)
    assert [words for words, _ in pictures] == [f"A bar &lt;of height&gt; &quot;{step}&quot;." for step in (1, 2, 3)]
    assert len({picture for _, picture in pictures}) == 3
    assert all(base64.b64decode(picture).startswith(b"<?xml") for _, picture in pictures)


def test_only_the_first_step_is_shown_before_the_slider_moves(shown):
    assert re.findall(r'<div class="step"( hidden)?>', shown) == ["", " hidden", " hidden"]


def test_the_slider_covers_all_steps_and_has_a_name(shown):
    assert '<label>Height <input type="range" min="0" max="2" step="1" value="0"' in shown
    assert "<figcaption>It grows &amp; grows.</figcaption>" in shown


def test_nothing_is_fetched_and_no_id_can_clash(shown):
    assert "http" not in re.sub(r"base64,[^\"]*", "", shown)
    assert not re.search(r"\sid=", shown)


def test_the_same_figure_has_the_same_bytes(shown):
    plotting.setup()
    assert stepped_figure(draw, [1, 2, 3], label="Height", caption="It grows & grows.").data == shown


def test_no_figure_stays_open(shown):
    with pytest.raises(ZeroDivisionError):
        stepped_figure(lambda fig, step: step / 0, [1], label="a", caption="b")
    assert not plt.get_fignums()


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="stepped_figure: steps must hold at least one step; got none"):
        stepped_figure(draw, [], label="a", caption="b")


@pytest.mark.parametrize(("words", "kind"), [(None, "NoneType"), (3, "int")])
def test_a_picture_without_words_is_refused(words, kind):
    with pytest.raises(TypeError, match=f"draw must return the picture in words .*; got {kind}"):
        stepped_figure(lambda fig, step: words, [1], label="a", caption="b")


def test_every_picture_has_the_size_asked_for():
    sizes = []

    def measured(fig, step):
        sizes.append(tuple(fig.get_size_inches()))
        return "a picture"

    stepped_figure(measured, [1, 2], label="a", caption="b", figsize=(3, 2))
    assert sizes == [(3, 2)] * 2


def test_the_slider_says_the_step_and_not_its_place():
    shown = stepped_figure(draw, [0.25, 4], label="T", caption="c").data
    assert 'aria-valuetext="0.25" data-names="[&quot;0.25&quot;, &quot;4&quot;]"' in shown
    named = stepped_figure(draw, [1, 2], label="T", caption="c", names=['"cold"', "hot"]).data
    assert 'aria-valuetext="&quot;cold&quot;"' in named
    with pytest.raises(ValueError, match="names must hold one name for each of 2 steps; got 1"):
        stepped_figure(draw, [1, 2], label="T", caption="c", names=["cold"])
