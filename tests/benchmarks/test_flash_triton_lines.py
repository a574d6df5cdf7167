"""benchmarks/flash_triton.py stands beside the NumPy loop line for line: is each line of the loop in it, as it is now?"""

import ast
from pathlib import Path

from attnlib.costs import counted_flash
from attnpage import source

KERNEL = Path(__file__).parents[2] / "benchmarks" / "flash_triton.py"


def kernel_lines():
    code = KERNEL.read_text(encoding="utf-8")
    (kernel,) = (node for node in ast.parse(code).body if getattr(node, "name", "") == "flash_kernel")
    return [line.strip() for line in code.splitlines()[kernel.body[0].lineno - 1 : kernel.end_lineno]]


def test_the_kernel_quotes_every_line_of_the_loop_that_computes_or_moves_anything():
    loop = source(counted_flash.flash_attention_on, counted_flash.tile_scores, counted_flash._absorb)
    loop = [line.split("  #")[0].strip() for line in loop.splitlines()]
    quoted = [line.removeprefix("# loop: ") for line in kernel_lines() if line.startswith("# loop: ")]
    assert [line for line in quoted if line not in loop] == []
    rest = [line for line in loop if line and line not in quoted]
    begin = ("def ", "@", "return ", "if causal:", "break", "memory.free(", "_absorb(", "scale, query", "memory,")
    handed_over = (
        "out, logsumexp = slow_array(query, value.T), np.empty(len(query))",
        "scores = memory.keep(tile_scores(query_tile, key_tile, scale, rows, columns, causal))",
        "accumulated, maximum, total = state",
    )
    assert [line for line in rest if not line.startswith(begin) and line not in handed_over] == []


def test_the_kernel_is_about_forty_lines():
    assert 30 < sum(not line.startswith("#") for line in kernel_lines()) <= 45
