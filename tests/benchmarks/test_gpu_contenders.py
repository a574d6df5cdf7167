"""benchmarks/gpu_contenders.py on a processor, our kernel in Triton's interpreter: does everybody compute the same?"""

import os

import numpy as np
import pytest

from attnlib.flash import flash_attention

os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
WHY = 'what runs on a GPU is not compared: PyTorch or Triton is not installed (pip install -e ".[gpu]")'
torch = pytest.importorskip("torch", reason=WHY)
pytest.importorskip("triton", reason=WHY)
import gpu_contenders

ROW = {"dtype": "float16", "d": 8, "n": 150, "texts": 2, "heads": 3}


@pytest.mark.parametrize("passes", ["forward", "causal"])
def test_all_contenders_compute_attention(passes):
    row = ROW | {"passes": passes}
    query, key, value = (tensor.double().numpy() for tensor in gpu_contenders.make_inputs(row, "cpu"))
    assert query.shape == (2, 3, 150, 8) and not np.array_equal(query, key) and not np.array_equal(key, value)
    wanted, _ = flash_attention(query, key, value, causal=passes == "causal")
    works = gpu_contenders.works(row, "cpu")
    assert list(works) == ["Triton (ours)", "PyTorch fused", "PyTorch plain"]
    for name, work in works.items():
        np.testing.assert_allclose(work().double().numpy(), wanted, atol=3e-3, rtol=2e-3, err_msg=name)
    assert list(gpu_contenders.that_agree(works)) == list(works)


def test_who_cannot_is_left_out_and_who_is_wrong_stops_the_run(capsys):
    def cannot():
        raise RuntimeError("No available kernel.\nMore about it.")

    works = {"ours": lambda: torch.ones(3), "other": cannot, "third": lambda: torch.full((3,), 1.001)}
    assert list(gpu_contenders.that_agree(works)) == ["ours", "third"]
    assert capsys.readouterr().out == "left out: other: No available kernel.\n"
    with pytest.raises(AssertionError, match="not close"):
        gpu_contenders.that_agree(works | {"fourth": lambda: torch.full((3,), 1.1)})
    with pytest.raises(RuntimeError, match="No available kernel"):  # ours has to run
        gpu_contenders.that_agree({"ours": cannot})
