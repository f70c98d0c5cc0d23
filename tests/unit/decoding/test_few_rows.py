"""`features: [cpu_decode]`: a file's own `linear` equals torch's for any number of rows, with
gradients and dtypes, and is the one way by which the file makes a product.
"""

from __future__ import annotations

import re

import pytest
import torch
import torch.nn.functional as F

from specc.pipeline import compile_spec
from specc.verify.loading import loaded
from tests.unit.verify.files import compiled

NAMES = ("gpt2", "llama_3_2_1b")
SPEC = """
specc: 1
name: few
style: {kind}, pre-norm, rms norm, sinusoidal, tied weights, SwiGLU, biases
vocab_size: 19
d_model: 8
{layers}
max_seq_len: 16
attention: {{n_heads: 2}}
feed_forward: {{d_ff: 12}}
features: [cache, cpu_decode]
"""


@pytest.fixture(scope="module", params=NAMES)
def file(request):
    with loaded(compiled(request.param).artifact.text, request.param) as found:
        yield found


@pytest.fixture
def product(file):
    return file.module.linear


def drawn(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    source = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=source, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("bias", [False, True], ids=["plain", "biased"])
@pytest.mark.parametrize("outputs", [1, 7, 8, 16, 29])
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (4, 1), (5, 1), (2, 3), (1,), (3,)])
def test_the_numbers_and_gradients_of_torch(product, shape, outputs, bias):
    x = drawn(*shape, 6).requires_grad_()
    weight = drawn(outputs, 6).requires_grad_()
    shift = drawn(outputs).requires_grad_() if bias else None
    given = [each for each in (x, weight, shift) if each is not None]
    found, wanted = product(x, weight, shift), F.linear(x, weight, shift)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    along = drawn(*wanted.shape)
    ours = torch.autograd.grad(found, given, along)
    theirs = torch.autograd.grad(wanted, given, along)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_dtypes_and_mixed_precision(product, dtype):
    x, weight, bias = (drawn(*s, dtype=dtype) for s in ((1, 1, 16), (24, 16), (24,)))
    found = product(x, weight, bias)
    torch.testing.assert_close(found, F.linear(x, weight, bias))
    with torch.autocast("cpu", torch.bfloat16):
        found, wanted = product(x, weight, bias), F.linear(x, weight, bias)
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted)


def test_rows_that_are_no_block_of_memory(product):
    x = drawn(1, 6, 2).mT[:, 1:]
    torch.testing.assert_close(product(x, drawn(16, 6)), F.linear(x, drawn(16, 6)))


@pytest.mark.parametrize("name", NAMES)
def test_small_weights_are_left_to_torch(name, monkeypatch):
    text = compiled(name).artifact.text
    large = int(re.search(r"LARGE = 2\*\*(\d+)", text).group(1))
    called = []
    bmm = torch.bmm
    monkeypatch.setattr(torch, "bmm", lambda *given: called.append(1) or bmm(*given))
    with loaded(text, name) as file:
        file.module.LARGE = 2**large
        for rows, expected in ((2 ** (large - 4), 1), (2 ** (large - 5), 0)):
            called.clear()
            file.module.linear(torch.zeros(1, 1, 16), torch.zeros(rows, 16))
            assert len(called) == expected, rows


@pytest.mark.parametrize(
    ("kind", "layers"),
    [
        ("decoder", "n_layers: 1"),
        ("encoder-decoder", "encoder: {n_layers: 1}\ndecoder: {n_layers: 1}"),
    ],
)
def test_no_product_goes_another_way(kind, layers):
    text = compile_spec(text=SPEC.format(kind=kind, layers=layers)).text
    own, _, rest = text.partition("class Linear(nn.Linear):")
    assert "def linear(" in own
    assert " = Linear(" in rest
    assert "nn.Linear(" not in rest
    assert "F.linear(" not in rest


def test_files_that_do_not_ask_for_it_have_nothing_of_it():
    text = compiled("mistral_7b").artifact.text
    assert "def linear(" not in text
    assert "LARGE" not in text
