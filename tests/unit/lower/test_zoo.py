"""The published checkpoints: each spec has as many parameters as the module that loads it.

Tied matrices count once, buffers (selection biases, frequencies) not at all. Two checkpoints differ
by that alone: Falcon's files hold the tied matrix twice, DeepSeek-V3's a layer of multi-token
prediction.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specc.ir.parameters import parameter_count
from specc.pipeline import read_model
from specc.spec import load

ROOT = Path(__file__).parents[3]
SPECS = ROOT / "specs"
INVENTED = ROOT / "tests" / "specs"
COUNTS = {
    "bert_base": 110_106_428,
    "bloom_560m": 559_214_592,
    "command_r": 34_980_831_232,
    "command_r7b": 8_028_033_024,
    "deepseek_v2_lite": 15_706_484_224,
    "deepseek_v3": 671_026_404_352,
    "exaone_4_32b": 32_003_216_384,
    "falcon_40b": 41_303_293_952,
    "falcon_7b": 6_921_720_704,
    "gemma_2_2b": 2_614_341_888,
    "gemma_2b": 2_506_172_416,
    "gemma_3_1b": 999_885_952,
    "glm_4_9b": 9_400_279_040,
    "gpt2": 124_439_808,
    "gpt2_xl": 1_557_611_200,
    "gpt_j_6b": 6_050_882_784,
    "gpt_oss_20b": 20_914_757_184,
    "granite_3_2b": 2_533_531_648,
    "llama_2_7b": 6_738_415_616,
    "llama_3_1_8b": 8_030_261_248,
    "llama_3_2_1b": 1_235_814_400,
    "llama_4_scout": 107_769_861_120,
    "minicpm3_4b": 4_073_875_968,
    "minitron_4b": 4_190_509_056,
    "mistral_7b": 7_241_732_096,
    "mixtral_8x7b": 46_702_792_704,
    "mpt_7b": 6_649_286_656,
    "olmo_1b": 1_176_764_416,
    "olmo_2_1b": 1_484_916_736,
    "olmo_3_7b": 7_298_011_136,
    "opt_350m": 331_196_416,
    "phi_2": 2_779_683_840,
    "phi_3_mini": 3_821_079_552,
    "pythia_160m": 162_322_944,
    "qwen2_5_0_5b": 494_032_768,
    "qwen3_0_6b": 596_049_920,
    "qwen3_30b_a3b": 30_532_122_624,
    "smollm2_135m": 134_515_008,
    "smollm3_3b": 3_075_098_624,
    "stablelm_2_1_6b": 1_644_515_328,
    "starcoder2_3b": 3_030_371_328,
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_checkpoint_has_its_count(name):
    assert parameter_count(read_model(SPECS / f"{name}.yaml")) == COUNTS[name]


def test_every_spec_with_weights_is_counted():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in SPECS.glob("*.yaml")}
    assert {name for name, text in texts.items() if "\nsource: " in text} == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_its_ledger_leaves_nothing_out(name):
    path = SPECS / f"{name}.yaml"
    assert load(path.read_bytes(), str(path)).strict() == ()


@pytest.mark.parametrize("name", COUNTS)
def test_it_names_a_paper_and_weights(name):
    text = (SPECS / f"{name}.yaml").read_text(encoding="utf-8")
    assert re.search(r"^source: {huggingface: [\w.-]+/[\w.-]+, layout: \w+}$", text, re.MULTILINE)
    assert re.search(r"^  (arxiv|url): ", text, re.MULTILINE)
    assert re.search(r"^  claims: {parameters: ", text, re.MULTILINE)


def test_a_family_in_no_list():
    # embedding and its norm, 24 layers of attention, sinks, glu, four norms, 8 with head gains
    d, heads, keys = 1024, 12 * 96, 4 * 96
    layer = 2 * d * heads + 2 * d * keys + 12 + 3 * d * 2816 + 4 * d
    found = parameter_count(read_model(INVENTED / "heron.yaml"))
    assert found == 32_000 * d + d + 24 * layer + 8 * (heads + keys) + d


def test_three_kinds_of_layer():
    d, f, keys = 1024, 2816, 4 * 64
    plain = 2 * d * d + 2 * d * keys
    chunked = plain + 3 * d * f + 2 * d
    queries = d * 256 + 256 + 256 * 8 * (64 + 32)
    values = d * (128 + 32) + 128 + 128 * 8 * (64 + 96)
    latent = queries + values + 8 * 96 * d + 3 * d * f + 2 * d
    experts = 12 * d + 12 * 3 * d * 512 + 3 * d * 512 + d
    wide = plain + d * d + experts + 4 * d
    found = parameter_count(read_model(INVENTED / "heron_of_three.yaml"))
    assert found == 2 * 32_000 * d + d + 8 * chunked + 4 * latent + 4 * wide
