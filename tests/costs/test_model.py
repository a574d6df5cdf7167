"""attnlib.costs.model: what a whole model learns and computes."""

import numpy as np
import pytest

from attnlib.costs import count_flops, count_model_flops, count_model_parameters, count_parameters

# layers, m, heads, key heads, d, hidden, matrices of an MLP, vocabulary, embeddings; parameters as published, 10^9
PUBLISHED = {
    "GPT-3 175B": (96, 12288, 96, 96, 128, 49152, 2, 50257, 1, 175, 1),
    "Llama 2 7B": (32, 4096, 32, 32, 128, 11008, 3, 32000, 2, 6.74, 0.01),
    "Llama 2 70B": (80, 8192, 64, 8, 128, 28672, 3, 32000, 2, 69, 0.1),
    "Mistral 7B": (32, 4096, 32, 8, 128, 14336, 3, 32000, 2, 7.24, 0.01),
    "PaLM 540B": (118, 18432, 48, 1, 256, 73728, 3, 256000, 1, 540.35, 0.01),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models_have_the_parameters_that_are_published(name):
    layers, m, heads, kv_heads, d, hidden, matrices, vocabulary, embeddings, billions, within = PUBLISHED[name]
    more = {"kv_heads": kv_heads, "hidden": hidden, "mlp_matrices": matrices, "vocabulary": vocabulary}
    found = count_model_parameters(layers, m, heads, d, embeddings=embeddings, **more)
    assert abs(found.total / 1e9 - billions) < within


def test_parameters_are_those_of_the_parts():
    found = count_model_parameters(3, 11, 6, 7, kv_heads=2, hidden=13, mlp_matrices=3, vocabulary=17, embeddings=2)
    assert found == (3 * count_parameters(11, 6, 7, kv_heads=2), 3 * 3 * 11 * 13, 2 * 17 * 11)
    assert found.total == sum(found) and count_model_parameters(1, 11, 6, 7).total == count_parameters(11, 6, 7)


@pytest.mark.parametrize("method", ["naive", "flash"])
def test_operations_are_those_of_the_parts(method):
    n, layers, m, heads, d, batch = 5, 3, 11, 6, 7, 2
    more = {"kv_heads": 2, "batch": batch, "method": method}
    found = count_model_flops(n, layers, m, heads, d, hidden=13, mlp_matrices=3, vocabulary=17, **more)
    attention = np.array(count_flops(n, n, d, heads=heads, m=m, **more))
    np.testing.assert_array_equal(found[:3], layers * attention)
    assert found[3:] == (2 * batch * n * layers * 3 * m * 13, 2 * batch * n * m * 17)
    assert found.total == sum(found)


def test_products_with_weights_are_twice_the_weights_for_each_token():
    sizes = {"kv_heads": 2, "hidden": 13, "mlp_matrices": 3, "vocabulary": 17}
    flops = count_model_flops(5, 3, 11, 6, 7, **sizes)
    weights = count_model_parameters(3, 11, 6, 7, **sizes).total
    assert flops.total - flops.products - flops.elementwise == 2 * 5 * weights
