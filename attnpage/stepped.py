"""A figure in steps that a reader moves through with a slider: no kernel, no network, keyboard included."""

import base64
import html
import io
import json

import matplotlib.pyplot as plt


def stepped_figure(draw, steps, *, label, caption, names=None, figsize=None):
    """Draw one picture for each step and put a slider under them.

    The pictures are stored in the notebook, so the slider works on the published
    page too. A screen reader gets the text of each step, a keyboard the arrow keys.

    Parameters
    ----------
    draw : callable
        ``draw(fig, step)`` draws the picture of one step on an empty figure and
        returns its description in words: what a reader should see in it.
    steps : sequence
        The values that are handed to `draw`, in order.
    label : str
        What the slider moves through, for instance ``"Temperature"``.
    caption : str
        What the figure shows.
    names : sequence of str, optional
        What a screen reader says for each place of the slider; ``str(step)`` if left out.
    figsize : tuple of float, optional
        Width and height in inches.

    Returns
    -------
    figure : IPython.display.HTML

    Raises
    ------
    TypeError
        If `draw` does not return a text.
    ValueError
        If there are no steps, or not one name for each.

    Examples
    --------
    >>> def draw(fig, step):
    ...     fig.subplots().bar([0, 1], [step, 1 - step])
    ...     return f"Two bars of height {step} and {1 - step}."
    >>> shown = stepped_figure(draw, [0.25, 0.5], label="Share", caption="Two bars share one unit.")
    >>> shown.data.count("<img")
    2
    """
    from IPython.display import HTML

    if len(steps) == 0:
        raise ValueError("stepped_figure: steps must hold at least one step; got none.")
    names = [str(step) for step in steps] if names is None else list(names)
    if len(names) != len(steps):
        raise ValueError(f"stepped_figure: names must hold one name for each of {len(steps)} steps; got {len(names)}.")
    frames = []
    for number, step in enumerate(steps):
        picture, words = _picture(draw, step, figsize)
        hidden = "" if number == 0 else " hidden"
        frames.append(
            f'<div class="step"{hidden}><img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{picture}">'
            f"<p>{number + 1} of {len(steps)}. {html.escape(words)}</p></div>"
        )
    # The slider finds its pictures by position, so that two figures on one page never share an id.
    show = (
        "const figure = this.closest('figure'); "
        "figure.querySelectorAll('.step').forEach((step, i) => { step.hidden = i != this.value; }); "
        "this.ariaValueText = JSON.parse(this.dataset.names)[this.value];"
    )
    slider = (
        f'<label>{html.escape(label)} <input type="range" min="0" max="{len(steps) - 1}" step="1" value="0" '
        f'autocomplete="off" aria-valuetext="{html.escape(names[0])}" data-names="{html.escape(json.dumps(names))}" '
        f'oninput="{show}"></label>'
    )
    return HTML(
        f'<figure class="stepped">\n<div aria-live="polite">\n{chr(10).join(frames)}\n</div>\n{slider}\n'
        f"<figcaption>{html.escape(caption)}</figcaption>\n</figure>"
    )


def _picture(draw, step, figsize):
    fig = plt.figure(figsize=figsize)
    try:
        words = draw(fig, step)
        if not isinstance(words, str):
            raise TypeError(f"stepped_figure: draw must return the picture in words (str); got {type(words).__name__}.")
        file = io.BytesIO()
        # No tight bounding box: every step has to be of one size, or the page would jump.
        fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    finally:
        plt.close(fig)
    return base64.b64encode(file.getvalue()).decode("ascii"), words
