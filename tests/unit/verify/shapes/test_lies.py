import ast

import pytest

from specc.render.header import LEGEND
from specc.verify.shapes import LoadError, UncallableError, examine
from specc.verify.shapes.legend import CONFIG_FIELDS, ROWS, Length, read_legend
from specc.verify.shapes.survey import survey
from tests.unit.verify.shapes.files import ROOT, TRUE


def edited(old, new):
    assert TRUE.count(old) == 1, old
    return TRUE.replace(old, new)


def line_of(text, part):
    return 1 + text[: text.index(part)].count("\n")


def test_a_true_file_has_no_lies():
    observed = examine(TRUE)
    assert [str(lie) for lie in observed.lies] == []
    assert observed.count == 17


def test_a_slice_passes_where_the_type_says_so():
    text = (ROOT / "generated" / "llama_3_2_1b.py").read_text(encoding="utf-8")
    assert text.count(") -> Tensor | slice:") == 1
    assert examine(text).lies == ()
    (lie,) = examine(text.replace(") -> Tensor | slice:", ") -> Tensor:")).lies
    assert "# [B, T]: what is returned is slice" in lie.message


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tokens)  # [B, T, D]", "tokens)  # [B, D, T]", "x  # [B, D, T]: the value is ["),
        ("# [B, T, V]", "# [B, T, D]", "logits  # [B, T, D]: the value is ["),
        ("# [B, T, D] each", "# [B, T, V] each", "parts  # [B, T, V]: the value is (["),
        ("# [E/2]", "# [E]", "self.scale  # [E]: the value is [5], where E=10"),
        ("# 2 x [B, H, T, E/2]", "# 3 x [B, H, T, E/2]", "first, second"),
        ("# [B, T, E/2]", "# [B, D, E/2]", "one, flag  # [B, D, E/2]: the value is (["),
        ("[B, T, H*E] ->", "[B, T, H*H] ->", "# [B, T, H*H]: what is given is ["),
        ("-> [B, H, T, E].", "-> [B, E, T, H].", "# [B, E, T, H]: what is returned is ["),
        ("tokens: Tensor,  # [B, T]", "tokens: Tensor,  # [T, B]", "tokens  # [T, B]: the value"),
        ("q.mT  # [B, H, T, T]", "q.mT  # [B, H, T, S]", "the header declares no S"),
        ("# [B, T], True", "# [B T], True", "it cannot be read: 'B T' is no size"),
        ("q.mT  # [B, H", "q.mT  # heads [B, H", "a shape comment begins with its shape"),
        ("    ) -> Output:", "    ) -> Output:  # [B, T]", "no value that can be watched"),
        ("weights: Tensor | None", "weights: Tensor", "weights  # [B, T, T]: the value is None"),
        ("# [T] or [B, T]", "# [T] or [B, T] or [B, T, T]", "no run needed [B, T, T]"),
        ("q.mT  # [B, H, T, T]", "q.mT  # [B, H, T, J]", "J may be any number here and stands in"),
        ("V vocabulary", "V vocabulary W windows", "W windows: no comment uses this letter"),
        ("# [B, H, T, T]", "# [B, H, T, width]", "and no size is called width here"),
        ("Split: [B, T, H*E] ->", "Split [B, T, H*E] into", "no arrow stands between"),
        (
            "    if token_mask is not",
            "    if False and token_mask is not",
            "place  # [B, T]: no run came",
        ),
    ],
)
def test_a_lie_is_found(old, new, reason):
    text = edited(old, new)
    lies = examine(text).lies
    assert [lie for lie in lies if reason in lie.message], [str(lie) for lie in lies]


def test_a_lie_names_its_line():
    text = edited("q.mT  # [B, H, T, T]", "q.mT  # [B, T, H, T]")
    (lie,) = examine(text).lies
    assert lie.line == line_of(text, "q.mT")


def test_an_error_branch_need_not_be_reached():
    text = edited("        raise ValueError(f", "        print(f")
    assert "wrong  # [B, T]: no run came here with a tensor" in examine(text).lies[0].message


def test_two_letters_for_one_length():
    text = edited("T new tokens", "T new tokens S all tokens so far")
    text = text.replace("arange(tokens.size(1))  # [T]", "arange(tokens.size(1))  # [S]")
    assert "S and T are the same in every call" in [lie.reason for lie in examine(text).lies]


def test_s_stands_beside_t():
    text = edited("T new tokens", "T new tokens S all tokens so far")
    text = text.replace("[B, T, V]", "[B, S, V]").replace("[B, T, T]", "[B, S, S]")
    text = text.replace("# [B, T, D] each", "# [B, S, D] each")
    assert {lie.reason for lie in examine(text).lies} == {"S stands here without T: say T"}


def test_a_file_without_shape_comments():
    text = "\n".join(line.partition("  # ")[0] for line in TRUE.splitlines())
    text = text.replace("[B, T, H*E] -> [B, H, T, E]", "the heads")
    assert "there are no shape comments" in [lie.message for lie in examine(text).lies]


def test_a_width_that_the_heads_fill():
    text = edited("    head_dim: int = 64\n", "")
    text = text.replace("config.head_dim", "(config.d_model // config.n_heads)")
    text = text.replace("super().__init__()", "super().__init__()\n        check(config)")
    text += (
        "\ndef check(c: Config) -> None:\n    if c.d_model % c.n_heads:\n        raise ValueError\n"
    )
    assert [str(lie) for lie in examine(text).lies] == []


def test_functions_that_are_not_there_or_there_twice():
    twice = "def split(x: Tensor, heads: int) -> Tensor:\n    return x  # [V]\n\n\n"
    absent = "if torch is None:\n    def extra(x: Tensor) -> Tensor:\n        return x  # [V]\n\n\n"
    text = edited("def split(", f"{twice}{absent}def split(")
    assert {lie.message for lie in examine(text).lies} == {"# [V]: no run came here with a tensor"}


def test_the_copy_keeps_every_line():
    copy = survey(TRUE).text
    assert copy.count("\n") == TRUE.count("\n")
    assert copy != TRUE
    ast.parse(copy)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("import torch\n", "import torch as\n", "SyntaxError"),
        ("import torch\n", "import not_there\n", "ModuleNotFoundError"),
        ("class Config:", "class Numbers:", "no class Config"),
    ],
)
def test_a_file_that_does_not_load(old, new, reason):
    with pytest.raises(LoadError, match=reason):
        examine(edited(old, new))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("        tokens: Tensor,", "        images: Tensor,", r"forward\(images, token_mask\)"),
        ("token_mask: Tensor | None = None,", "token_mask: Tensor | None,", "needs token_mask"),
        ("q.chunk(2", "q.chunk(0", "does not run: RuntimeError.*line 53"),
    ],
)
def test_a_file_that_cannot_be_called(old, new, reason):
    with pytest.raises(UncallableError, match=reason):
        examine(edited(old, new))


def test_the_headers_of_generated_files_are_known():
    free = {"product inputs", "block outputs"}  # what `linear` is given: any width
    known = {*CONFIG_FIELDS, ROWS, *free, *(length.value for length in Length)}
    assert set(LEGEND.values()) <= known
    text = "".join(f"{letter} {meaning} " for letter, meaning in LEGEND.items())
    assert read_legend(f"Title.\n\nShapes      {text}\n").meanings == LEGEND
