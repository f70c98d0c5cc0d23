"""How published checkpoints name and store their tensors: one layout for each way, as data.

A layout is named after the first family that was stored so; a spec names its own in
`source.layout`.
"""

from __future__ import annotations

from collections.abc import Mapping

from specc.importers.layouts import dense, early, encoders, experts
from specc.weights import Layout

LAYOUTS: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        dense.LLAMA,
        dense.COHERE,
        dense.OLMO2,
        dense.STARCODER2,
        dense.STABLELM,
        dense.GEMMA2,
        dense.GLM4,
        dense.PHI3,
        dense.PHI,
        early.GPT2,
        early.GPTJ,
        early.GPT_NEOX,
        early.OPT,
        early.BLOOM,
        early.MPT,
        early.FALCON,
        early.FALCON_RW,
        experts.MIXTRAL,
        experts.QWEN2_MOE,
        experts.QWEN3_MOE,
        experts.MINICPM3,
        experts.DEEPSEEK,
        experts.DEEPSEEK_HALF,
        experts.GPT_OSS,
        experts.LLAMA4,
        encoders.BERT,
    )
}
