"""Mistakes of code that continues texts: the last column, the mask, the draw, the end."""

from __future__ import annotations

from specc.ir.heads import Tied
from specc.ir.layers import Linear
from specc.ir.model import Model
from specc.ir.walk import walk
from specc.verify.mutants.code_mutant import swap


def _has_bias(model: Model) -> bool:
    """Whether any product has a bias."""
    parts = list(walk(model.stacks + model.heads))
    linears = (part.bias for part in parts if isinstance(part, Linear))
    ties = (part.bias_name is not None for part in parts if isinstance(part, Tied))
    return any((*linears, *ties))


DECODING = (
    swap("last_only cuts the first column", "x[:, -1:]", "x[:, :1]"),
    swap("argmax over the batch", "logits.argmax(-1)", "logits.argmax(0)[: logits.size(0)]"),
    swap("the least likely token", "logits.argmax(-1)", "logits.argmin(-1)"),
    swap("cache without room for new tokens", "self.new_cache(_b, end)", "self.new_cache(_b, 0)"),
    swap(
        "the mask does not grow by real tokens",
        "F.pad(_mask, (0, 1), value=True)",
        "F.pad(_mask, (0, 1), value=False)",
    ),
    swap(
        "the mask grows on the left",
        "F.pad(_mask, (0, 1), value=_v)",
        "F.pad(_mask, (1, 0), value=_v)",
    ),
    swap("temperature multiplied", "logits.float() / temperature", "logits.float() * temperature"),
    swap(
        "temperature after the sorting",
        "(_l / temperature).sort(descending=True)",
        "_l.sort(descending=True)",
    ),
    swap("sorted upwards", "_l.sort(descending=True)", "_l.sort()"),
    swap("one token more than top_k", "logits[:, :top_k]", "logits[:, : top_k and top_k + 1]"),
    swap(
        "top_k before it renormalises",
        "logits[:, :top_k].softmax(-1)",
        "logits.softmax(-1)[:, :top_k]",
    ),
    swap("top_p one token short", "share.cumsum(-1) - share < top_p", "share.cumsum(-1) < top_p"),
    swap(
        "top_p one token long",
        "share.cumsum(-1) - share < top_p",
        "share.cumsum(-1) - share - share.roll(1, -1) < top_p",
    ),
    swap("ranks in place of tokens", "token.gather(-1, rank).squeeze(-1)", "rank.squeeze(-1)"),
    swap(
        "the generator is not used",
        "share.multinomial(1, generator=generator)",
        "share.multinomial(1)",
    ),
    swap("rows go on after the stop token", "token.masked_fill(done, stop_token)", "token"),
    swap("ends at the first stop token", "done.all()", "done.any()"),
    swap("never ends", "stop_token is not None and done.all()", "False"),
    swap("the stop token is not given", "yield token", "yield token.masked_fill(done, 0)"),
    swap(
        "all tokens again at each step",
        "tokens = token[:, None]",
        "tokens = torch.cat((tokens, token[:, None]), 1)",
    ),
    swap("the memory is read at each step", "cache.memory = _kv", "pass"),
    swap("values of the memory in the place of keys", "cache.memory = k, v", "cache.memory = v, v"),
    swap(
        "new tokens not counted",
        "check_length(end, _limit)",
        "check_length(end - 1, _limit)",
    ),
    swap("padding on the right let in", "not _mask[..., -1].all()", "False"),
    swap("wrong numbers of new tokens let in", "not 0 <= max_new_tokens < end", "False"),
    swap("wrong temperatures let in", "temperature < 0", "False"),
    swap("top_p not checked", "not 0 < top_p <= 1", "False"),
    swap("bias of few rows lost", "y + bias.to(y)", "y", needs=_has_bias),
    swap("blocks interleaved", "_y.permute(2, 0, 1)", "_y.permute(2, 1, 0)"),
    swap("outputs behind the blocks lost", "whole < weight.size(0)", "False"),
    swap("outputs behind the blocks of other rows", "weight[whole:]", "weight[: -whole or None]"),
    swap(
        "few rows mixed",
        "x.reshape(1, -1, width).mT",
        "x.reshape(1, width, -1)",
    ),
)
