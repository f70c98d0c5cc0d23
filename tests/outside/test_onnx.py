import pytest
import torch

from tests.outside.onnx import onnx_error, subject_of
from tests.unit.verify.files import compiled

LIMIT = 1e-5


@pytest.mark.parametrize("name", ["bert_base", "gpt2", "llama_3_2_1b"])
def test_onnxruntime_gives_what_the_file_gives(name, tmp_path):
    with subject_of(compiled(name)) as subject:
        traced = subject.build_stressed(torch.float32)
        assert onnx_error(subject, traced, subject.padded, tmp_path / "a.onnx") <= LIMIT


def test_the_comparison_notices_another_weight(tmp_path):
    with subject_of(compiled("tiny_transformer_lm")) as subject:
        traced = subject.build_stressed(torch.float32)
        next(traced.parameters()).data[0] *= 1.01
        assert onnx_error(subject, traced, subject.plain, tmp_path / "a.onnx") > LIMIT
