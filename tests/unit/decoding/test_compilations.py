"""Compilations while a text is continued: one for the prompt, at most two for the steps, which
windows fill up on the way.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule

from specc.verify.loading import loaded
from specc.verify.subject import Subject
from tests.unit.verify.files import compiled

STEPS = 64
PROMPT = 9
WINDOW = 30
NAMES = ("gpt2", "llama_3_2_1b", "gemma_3_1b", "mistral_7b", "mixtral_8x7b", "deepseek_v3")


@pytest.mark.parametrize("padded", [False, True], ids=["plain", "padded"])
@pytest.mark.parametrize("name", NAMES)
def test_decoding_compiles_once_or_twice(name, padded):
    compilation = compiled(name)
    lengths: list[int] = []

    def backend(graph: GraphModule, inputs: list[Tensor]) -> Callable[..., object]:
        lengths.append(len(inputs))
        return graph.forward

    with loaded(compilation.artifact.text, name) as file:
        numbers = Subject(compilation.model, file).numbers
        windows = {name: WINDOW for name in numbers if name.startswith("window")}
        longest = {"max_seq_len": PROMPT + STEPS + 1}
        config = file.config_class(**{**numbers, **windows, **longest})
        live = file.model_class(config).eval()
        tokens = torch.randint(30, (3, PROMPT), generator=torch.Generator().manual_seed(0))
        mask = torch.arange(PROMPT) >= torch.tensor([[0], [2], [5]]) if padded else None
        wanted = live.generate(tokens, STEPS + 1, mask)
        torch.compiler.reset()
        live.compile(fullgraph=True, backend=backend)
        counts = []
        found = [tokens]
        for token in live.stream(tokens, STEPS + 1, mask):
            found.append(token[:, None])
            counts.append(len(lengths))
        torch.compiler.reset()
    assert torch.equal(torch.cat(found, 1), wanted)
    assert counts[0] == 1
    assert counts[-1] - counts[0] <= 2
