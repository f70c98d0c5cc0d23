"""For each check one file that it must catch: a generated file with a mistake that people make."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Broken:
    """`old` in the file of `spec` replaced by `new`; `says` is part of the evidence."""

    check: str
    spec: str
    old: str
    new: str
    says: str = ""


BROKEN = (
    Broken("imports", "llama_3_2_1b", "import math\n", "import math\nimport numpy\n", "numpy"),
    Broken(
        "config",
        "llama_3_2_1b",
        "norm_eps: float = 1e-5",
        "norm_eps: float = 1e-6",
        "Config.norm_eps is 1e-06, the spec says 1e-05",
    ),
    Broken(
        "parameter_count",
        "llama_3_2_1b",
        "        self.rotary = RotaryTable(config)\n",
        "        self.rotary = RotaryTable(config)\n"
        "        self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)\n",
        "the gap is exactly vocab_size * d_model: a tie is missing",
    ),
    Broken(
        "state_dict",
        "llama_3_2_1b",
        'self.register_buffer("cos", torch.empty(shape), persistent=False)',
        'self.register_buffer("cos", torch.empty(shape))',
        "rotary.cos: (31, 5), the spec says nothing",
    ),
    Broken(
        "forward_float64",
        "llama_3_2_1b",
        "first * cos - second * sin",
        "first * cos + second * sin",
        "layers.0.attention:q",
    ),
    Broken(
        "forward_float32",
        "gpt2",
        'approximate="tanh"',
        'approximate="none"',
        "the first part that differs: layers.0.feed_forward",
    ),
    Broken(
        "gradient_float64",
        "llama_3_2_1b",
        "linear(self.norm(x), self.embedding.weight)",
        "linear(self.norm(x), self.embedding.weight.detach())",
        "embedding.weight",
    ),
    Broken(
        "gradient_float32",
        "llama_3_2_1b",
        "k = rotate(k, view.cos, view.sin)",
        "k = rotate(k.detach(), view.cos, view.sin)",
        "relative error",
    ),
    Broken(
        "every_parameter_learns",
        "llama_3_2_1b",
        "F.silu(self.gate_proj(x))",
        "F.silu(self.gate_proj(x).detach())",
        "layers.0.feed_forward.gate_proj.weight receives no gradient",
    ),
    Broken(
        "late_positions",
        "llama_3_2_1b",
        "position = torch.arange(size, device=device).double()",
        "position = torch.arange(size, device=device).bfloat16().double()",
        "logits of 300 places is off by",
    ),
    Broken("looking", "llama_3_2_1b", "return None, True", "return None, False", "is changed by"),
    Broken(
        "padding_left",
        "gpt2",
        "(token_mask.cumsum(1)[:, start:] - 1).clamp(min=0)",
        "torch.arange(start, start + tokens.size(1)).expand_as(tokens)",
        "3 padding tokens on the left",
    ),
    Broken(
        "padding_right",
        "bert_base",
        "real | (place == place[:, None])",
        "(real | True) & (place == place)",
        "3 padding tokens on the right",
    ),
    Broken(
        "batch_independence",
        "llama_3_2_1b",
        "wide.square().mean(-1, keepdim=True)",
        "wide.square().mean((0, -1), keepdim=True)",
        "row 0 alone",
    ),
    Broken(
        "fully_masked_rows",
        "text_classifier",
        "real | (place == place[:, None])",
        "real & (place == place)",
        "class_logits is off",
    ),
    Broken(
        "cache",
        "llama_3_2_1b",
        "slice(start, start + tokens.size(1))",
        "slice(tokens.size(1))",
        "logits one by one, no padding",
    ),
    Broken(
        "generation",
        "llama_3_2_1b",
        "F.pad(token_mask, (0, 1), value=True)",
        "F.pad(token_mask, (0, 1), value=False)",
        "golden's loop gives",
    ),
    Broken(
        "eval_determinism",
        "bert_base",
        "self.dropout if self.training else 0.0",
        "self.dropout",
        "in eval mode",
    ),
    Broken(
        "live_dropout",
        "bert_base",
        "return self.output_dropout(self.down_proj(hidden))",
        "return self.down_proj(hidden)",
        "layers.0.feed_forward.output_dropout at 0.5 changes nothing",
    ),
    Broken(
        "dropout_places",
        "text_classifier",
        "self.hidden_dropout(F.relu(self.up_proj(x)))",
        "F.relu(self.hidden_dropout(self.up_proj(x)))",
        "hidden_dropout does not read what layers.0.feed_forward.down_proj takes",
    ),
    Broken(
        "ties",
        "llama_3_2_1b",
        "        self.rotary = RotaryTable(config)\n",
        "        self.rotary = RotaryTable(config)\n        self.head = [self.embedding.weight]\n",
        "",
    ),
    Broken(
        "meta_device",
        "llama_3_2_1b",
        "isinstance(module, (RMSNorm, RotaryTable))",
        "isinstance(module, RMSNorm)",
        "reset_parameters leaves rotary.cos as to_empty left it",
    ),
    Broken(
        "init_statistics",
        "llama_3_2_1b",
        "std=self.config.init_std",
        "std=0.03",
        ": std 0.03",
    ),
    Broken(
        "dtypes",
        "llama_3_2_1b",
        "return cos.to(dtype), sin.to(dtype)",
        "return cos.float(), sin.float()",
        "",
    ),
    Broken(
        "norm_casts",
        "llama_3_2_1b",
        "return self.weight * normed.to(x.dtype)",
        "return (self.weight * normed).to(x.dtype)",
        "of values equal golden's",
    ),
    Broken(
        "expert_work",
        "mixtral_8x7b",
        "self.expert(x[token], *matrices)",
        "self.expert(x, *matrices)[token]",
        "times the work of the chosen experts",
    ),
    Broken(
        "expert_choice",
        "qwen3_30b_a3b",
        "logits.to(torch.promote_types(logits.dtype, torch.float32))",
        "logits.to(x.dtype)",
        "of tokens pass the experts that they choose in float64",
    ),
    Broken(
        "input_errors",
        "llama_3_2_1b",
        "mask.dtype == torch.bool",
        "mask.dtype != torch.float32",
        "token_mask of integers",
    ),
    Broken(
        "shape_comments",
        "gpt2",
        "# [B, T, 3*H*E]",
        "# [B, T, 3*D]",
        "qkv  # [B, T, 3*D]: the value is [",
    ),
    Broken(
        "overfit",
        "llama_3_2_1b",
        "nn.init.normal_(module.weight, std=self.config.init_std)",
        "nn.init.zeros_(module.weight)",
        "it should fall by 10 times or more",
    ),
    Broken(
        "compile",
        "llama_3_2_1b",
        "mask.dtype == torch.bool",
        "mask.dtype == torch.bool and mask.any()",
        "",
    ),
    Broken(
        "export",
        "llama_3_2_1b",
        "x.view(batch, length, -1, head_dim)",
        "x.view(batch, 9, -1, head_dim)",
        "",
    ),
)

# The same mistake in the second place where a broken file needs it.
ALSO = {
    "ties": (
        "linear(self.norm(x), self.embedding.weight)",
        "linear(self.norm(x), self.head[0])",
    )
}
