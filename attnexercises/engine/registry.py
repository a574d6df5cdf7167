"""Find every exercise of the book by its id.

Each chapter has a folder, and each file in it lists its exercises in ``EXERCISES``.
"""

import difflib
import importlib
import pkgutil
from functools import lru_cache

PACKAGE = "attnexercises"

_BOOK_ORDER = {
    "prerequisites": (
        "matrix_shapes", "product_transpose", "delta_sum", "linear_backward", "used_twice", "vjp_cost",
        "variance_of_sum",
    ),
    "softmax": ("softmax", "softmax_backward", "temperature_gradient", "online_softmax"),
    "attention": ("distance_attention", "two_token_weight", "sdpa", "spot_attention", "attention_shape"),
    "gradients": ("score_gradient", "sdpa_backward", "spot_gradient", "additive_backward"),
    "masks": (
        "spot_mask", "causal_mask", "allowed_pairs", "masked_softmax", "padded_causal_attention", "distance_bias_backward",
    ),
    "multihead": (
        "previous_token_head", "first_of_its_kind_head", "mha", "spot_multihead", "mha_backward", "mha_parameters",
        "score_mebibytes", "gqa", "gqa_backward",
    ),
    "flash": (
        "scores_bytes", "attention_flops", "one_tile", "flash_forward", "spot_flash", "causal_tiles", "flash_traffic",
    ),
    "recompute": ("flash_backward", "merge_partials", "backward_with_logsumexp", "striped_pairs"),
    "positions": ("sinusoidal", "rope", "rope_scores", "rope_backward", "alibi"),
    "decoding": ("kv_cache", "kv_cache_bytes", "paged_lookup", "shared_blocks", "linear_step"),
    "training": ("cross_entropy_backward", "adam_direction", "taken_out", "spot_training"),
    "puzzles": (
        "soft_maximum_slopes", "expose_shift", "softcap_backward", "rms_backward", "expose_fill", "expose_causal",
        "expose_groups", "expose_skip", "flash_schedule", "causal_schedule", "window_cache", "text_cache",
    ),
}  # fmt: skip


@lru_cache(maxsize=1)
def registry():
    """Return all exercises as a dict from id to `Exercise`, in the order of the book."""
    exercises = {}
    for name in _modules():
        file = name.replace(".", "/") + ".py"
        for exercise in getattr(importlib.import_module(name), "EXERCISES", ()):
            if exercise.id in exercises:
                raise ValueError(f"two exercises have the id {exercise.id!r}; the second is in {file}.")
            if exercise.id not in _BOOK_ORDER.get(exercise.chapter, ()):
                raise ValueError(f"{exercise.id!r}, in {file}, has no place in the book: add it to _BOOK_ORDER.")
            exercises[exercise.id] = exercise
    return {id: exercises[id] for ids in _BOOK_ORDER.values() for id in ids}


def _modules():
    """Yield the names of the modules in the folders of all chapters."""
    for chapter in _BOOK_ORDER:
        folder = importlib.import_module(f"{PACKAGE}.{chapter}")
        yield from sorted(module.name for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."))


def find(id):
    """Return the exercise called `id`, or raise a ValueError that suggests a similar id or says what an id is."""
    exercises = registry()
    if not isinstance(id, str):
        raise ValueError(f'`id` is the name of an exercise in quotes, such as "softmax"; this is {described(id)}.')
    if id in exercises:
        return exercises[id]
    near = difflib.get_close_matches(id, exercises, n=1)
    raise ValueError(f"There is no exercise {id!r}." + (f" Did you mean {near[0]!r}?" if near else ""))


def described(thing):
    """Describe an object that was given where a name was expected: "a function", "the number 3".

    Examples
    --------
    >>> described(len), described(3), described([1]), described(None)
    ('a function', 'the number 3', 'a list', 'None')
    """
    if thing is None or isinstance(thing, bool):
        return str(thing)
    if isinstance(thing, (int, float)):
        return f"the number {thing}"
    if isinstance(thing, str):
        return f"the word {thing!r}"
    if callable(thing):
        return "a class" if isinstance(thing, type) else "a function"
    name = {"ndarray": "array"}.get(type(thing).__name__, type(thing).__name__)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
