"""Wrong answers to the exercises on masks."""

from attnlib.exercises.engine.registry import find

from . import wrong

wrong("causal_mask", "turned upside down", says="True that should be False")(
    lambda *args: ~find("causal_mask").solution(*args)[::-1]
)
