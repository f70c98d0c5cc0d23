"""Mistakes that no choice of the spec expresses: wrong code, as edits of the finished file.

Each is a piece of Python and what a mistaken author writes in its place. A piece that a file does
not have gives no mutant.
"""

from __future__ import annotations

from specc.ir.attention import Attention, PositionTemperature, SeparateProjections
from specc.ir.feed_forward import Router, Score
from specc.ir.model import Kind, Model
from specc.ir.positions import DynamicScaling, LearnedPosition, Rotary, Sinusoidal
from specc.ir.walk import walk
from specc.verify.mutants.code_attention import CODE_ATTENTION
from specc.verify.mutants.code_decoding import DECODING
from specc.verify.mutants.code_mutant import CodeMutant, Needs, swap


def biased(field: str) -> Needs:
    """The projection of that name has a bias somewhere."""

    def needs(model: Model) -> bool:
        return any(
            isinstance(part, SeparateProjections) and vars(part)[field].bias
            for part in walk(model.stacks)
        )

    return needs


def cancelled_by_softmax(model: Model) -> str | None:
    """Why a bias of the keys cannot matter: it adds q b to every score of a row alike."""
    for part in walk(model.stacks):
        if isinstance(part, Attention) and isinstance(part.projections, SeparateProjections):
            turned = isinstance(part.position, Rotary)
            if part.projections.k.bias and (turned or part.qk_norm is not None):
                return None
    return "a key bias adds the same number to all scores of a query, and softmax cancels it"


def alone_in_padding(model: Model) -> str | None:
    """Why the position of padding before a row's first real token cannot matter to rotary turns."""
    if any(isinstance(part, Sinusoidal | LearnedPosition) for part in walk(model.stacks)):
        return None
    return "padding before all real tokens looks only at itself, wherever it stands"


def only_differences(model: Model) -> str | None:
    """Why a shift of all positions cannot matter: they only turn heads, and no table ends."""
    parts = list(walk(model.stacks))
    counted = Sinusoidal | LearnedPosition | PositionTemperature
    turns = [part for part in parts if isinstance(part, Rotary)]
    if any(isinstance(part, counted) for part in parts) or not turns:
        return None
    if all(isinstance(part.scaling, DynamicScaling) for part in turns):
        return "rotary turns see only differences of positions, and these have no table that ends"
    return None


def one_key_head(model: Model) -> str | None:
    """Why the order of repeated key heads cannot matter."""
    parts = [part for part in walk(model.stacks) if isinstance(part, Attention)]
    if all(part.n_kv_heads.value == 1 for part in parts if part.is_grouped):
        return "there is one key/value head, and its copies are the same in any order"
    return None


def unread_padding(model: Model) -> str | None:
    """Why what an encoder makes of padding cannot matter to a decoder."""
    if model.kind is Kind.ENCODER_DECODER:
        return "the decoder looks at no padding of the source, and SDPA gives 0 for an empty row"
    return None


def chosen_by_logits(model: Model) -> str | None:
    """Why the dtype of the softmax cannot matter to the choice."""
    routers = [part for part in walk(model.stacks) if isinstance(part, Router)]
    if all(router.score is Score.TOPK_SOFTMAX for router in routers):
        return "logits are compared as they are, and a wider dtype keeps their order"
    return None


def one_chosen(model: Model) -> str | None:
    """Why the weights of several experts cannot be confused."""
    routers = [part for part in walk(model.stacks) if isinstance(part, Router)]
    if all(router.top_k.value == 1 for router in routers):
        return "each token passes one expert"
    return None


MASKS = (
    swap("padding mask inverted", "(causal & real) | _itself", "(causal & ~real) | _itself"),
    swap(
        "a padding token may look at nothing", "(causal & real) | (key == query)", "causal & real"
    ),
    swap("padding may look everywhere", "(causal & real) | _itself", "causal | _itself"),
    swap("causal flag forgotten with padding", "(causal & real) | _itself", "real | _itself"),
    swap("the next token is visible", "key <= query", "key <= query + 1"),
    swap("the token itself is hidden", "key <= query", "key < query"),
    swap("is_causal with a cache", "token_mask is None and start == 0", "token_mask is None"),
    swap("a chunk sees its own future", "end - start == 1", "end - start >= 1"),
    swap(
        "a lone token sees padding",
        "token_mask is None and end - start == 1",
        "end - start == 1",
    ),
    swap(
        "mask offset forgotten with a cache",
        "torch.arange(start, end, device=device)[:, None]",
        "torch.arange(end - start, device=device)[:, None]",
    ),
    swap(
        "both ways: mask inverted",
        "real | (place == place[:, None])",
        "~real | (place == place[:, None])",
    ),
    swap(
        "both ways: a padding token may look at nothing",
        "real | (place == place[:, None])",
        "real",
        unread_padding,
    ),
    swap("memory mask inverted", "_mask[:, None, None, :]", "~_mask[:, None, None, :]"),
    swap("mask and is_causal exchanged", "return None, True", "return None, False"),
)

POSITIONS = (
    swap(
        "positions start again with a cache",
        "torch.arange(start, start + _length, device=_device)",
        "torch.arange(_length, device=_device)",
    ),
    swap(
        "positions off by one",
        "torch.arange(start, start + _length, device=_device)",
        "torch.arange(start + 1, start + 1 + _length, device=_device)",
        only_differences,
    ),
    swap(
        "rows of the first tokens with a cache",
        "slice(start, start + _length)",
        "slice(_length)",
    ),
    swap(
        "rows off by one",
        "slice(start, start + _length)",
        "slice(start + 1, start + 1 + _length)",
    ),
    swap(
        "padded positions off by one",
        "_mask.cumsum(1)[:, start:] - 1",
        "_mask.cumsum(1)[:, start:]",
        only_differences,
    ),
    swap("padding counted", "_mask.cumsum(1)", "torch.ones_like(_mask).cumsum(1)"),
    swap("new tokens counted only", "_mask.cumsum(1)[:, start:]", "_mask[:, start:].cumsum(1)"),
    swap("positions below 0", "_place.clamp(min=0)", "_place", alone_in_padding),
    swap("rotary: one sign wrong", "first * cos - second * sin", "first * cos + second * sin"),
    swap(
        "rotary: turned backwards",
        "(first * cos - second * sin, second * cos + first * sin)",
        "(first * cos + second * sin, second * cos - first * sin)",
    ),
    swap("rotary: queries not turned", "rotate(q, _cos, _sin)", "q"),
    swap("rotary: keys not turned", "rotate(k, _cos, _sin)", "k"),
    swap("rotary: values turned too", "rotate(k, _cos, _sin)", "rotate(v, _cos, _sin)"),
)

TABLES = (
    swap("sines and cosines exchanged", "angle.sin()", "angle.cos()"),
    swap(
        "angles in half the frequency",
        "torch.outer(position, frequency)",
        "torch.outer(position, frequency / 2)",
    ),
    swap(
        "the cosine has an exponent of its own",
        "self.table[:, 1::2] = angle.cos()[:, : width // 2]",
        "self.table[:, 1::2] = (angle * 0.9).cos()[:, : width // 2]",
    ),
    swap(
        "positions in bfloat16",
        "torch.arange(size, device=device).double()",
        "torch.arange(size, device=device).bfloat16().double()",
    ),
    swap(
        "angles in float32",
        "torch.outer(position, frequency)",
        "torch.outer(position.float(), frequency.float()).double()",
    ),
    swap("the table begins at position 1", "self.table[position]", "self.table[position + 1]"),
    swap("a learned row too far", "self.position_embedding(_x)", "self.position_embedding(_x + 1)"),
)

PROJECTIONS = (
    swap("query projection transposed", "self.q_proj(_x)", "F.linear(_x, self.q_proj.weight.T)"),
    swap("output projection transposed", "self.o_proj(_x)", "F.linear(_x, self.o_proj.weight.T)"),
    swap("output projection left out", "self.o_proj(_x)", "_x[..., : self.o_proj.out_features]"),
    swap(
        "keys are the queries",
        "self.k_proj(_x)",
        "self.q_proj(_x)[..., : self.k_proj.out_features]",
    ),
    swap(
        "query bias dropped",
        "self.q_proj(_x)",
        "F.linear(_x, self.q_proj.weight)",
        needs=biased("q"),
    ),
    swap(
        "key bias dropped",
        "self.k_proj(_x)",
        "F.linear(_x, self.k_proj.weight)",
        cancelled_by_softmax,
        biased("k"),
    ),
    swap(
        "value bias dropped",
        "self.v_proj(_x)",
        "F.linear(_x, self.v_proj.weight)",
        needs=biased("v"),
    ),
    swap("q and k of a fused map exchanged", "q, k, v = _x", "k, q, v = _x"),
    swap("k and v of a fused map exchanged", "q, k, v = _x", "q, v, k = _x"),
    swap(
        "queries scaled beforehand too",
        "split_heads(self.q_proj(_x), self.head_dim)",
        "(split_heads(self.q_proj(_x), self.head_dim) * self.head_dim**-0.5)",
    ),
)

ATTENTION = (
    swap(
        "key/value heads tiled, not repeated",
        "F.scaled_dot_product_attention(q, k, v, attn_mask=_m, is_causal=_c, enable_gqa=True)",
        "F.scaled_dot_product_attention(q, k.repeat(1, q.size(1) // k.size(1), 1, 1),"
        " v.repeat(1, q.size(1) // v.size(1), 1, 1), attn_mask=_m, is_causal=_c)",
        one_key_head,
    ),
    swap(
        "heads cut wrongly",
        "x.view(batch, length, -1, head_dim).transpose(1, 2)",
        "x.reshape(batch, -1, length, head_dim)",
    ),
    swap(
        "heads merged without transposing",
        "x.transpose(1, 2).flatten(2)",
        "x.reshape(x.size(0), x.size(2), -1)",
    ),
    swap("dropout in eval mode", "self.dropout if self.training else 0.0", "self.dropout"),
    swap("weights over the wrong axis", "_scores.softmax(dim=-1)", "_scores.softmax(dim=-2)"),
    swap("temperature not exponentiated", "self.log_scale.exp()", "self.log_scale"),
    swap("temperature starts at 0", "nn.init.constant_(_w, _value)", "nn.init.zeros_(_w)"),
    swap("alibi: the wrong sign", "key - query", "query - key"),
    swap("alibi: no direction", "visible = key <= query", "visible = key == key"),
    swap("alibi: slopes of a power of two only", "2 ** int(math.log2(n_heads))", "n_heads"),
    swap("alibi: exponent off by one", "range(1, below + 1)", "range(below)"),
    swap("alibi: padding visible", "visible & real", "visible"),
)

BLOCKS = (
    swap(
        "attention's residual from the normed input",
        "x = x + self.attention(_normed, _view, _cache)",
        "x = _normed + self.attention(_normed, _view, _cache)",
    ),
    swap(
        "residual from the normed input",
        "x + self.feed_forward(self.feed_forward_norm(x))",
        "self.feed_forward_norm(x) + self.feed_forward(self.feed_forward_norm(x))",
    ),
    swap("residual left out", "x + self.feed_forward(_x)", "self.feed_forward(_x)"),
    swap("residual counted twice", "x + self.feed_forward(_x)", "2 * x + self.feed_forward(_x)"),
    swap("hidden dropout left out", "self.hidden_dropout(_x)", "_x"),
    swap("output dropout left out", "self.output_dropout(_x)", "_x"),
    swap(
        "output dropout before its projection",
        "self.output_dropout(self.o_proj(_x))",
        "self.o_proj(self.output_dropout(_x))",
    ),
    swap(
        "hidden dropout before the activation",
        "self.hidden_dropout(_f(_x))",
        "_f(self.hidden_dropout(_x))",
    ),
    swap("embedding dropout left out", "self.dropout(_x)", "_x"),
)

EXPERTS = (
    swap(
        "the selection bias weighs too",
        "selection = _score + self.selection_bias",
        "selection = _score = _score + self.selection_bias",
    ),
    swap(
        "experts chosen in low precision",
        "logits.to(torch.promote_types(logits.dtype, torch.float32))",
        "logits",
        chosen_by_logits,
    ),
    swap(
        "groups of every n-th expert",
        "score.view(score.size(0), self.n_groups, -1)",
        "score.view(score.size(0), -1, self.n_groups).transpose(1, 2)",
    ),
    swap(
        "all experts run on all tokens",
        "self.expert(x[token], *matrices)",
        "self.expert(x, *matrices)[token]",
    ),
    swap(
        "the last expert counts", "mixed.index_add_(0, token, _y)", "mixed[token] = _y", one_chosen
    ),
    swap(
        "the best expert's weight for all",
        "weight[token, rank, None]",
        "weight[token, :1]",
        one_chosen,
    ),
    swap("a lone token weighs all alike", "weight.view(-1, 1, 1)", "weight.mean()", one_chosen),
    swap("the gate clamped from below too", "gate.clamp(max=limit)", "gate.clamp(-limit, limit)"),
    swap("up clamped from above only", "up.clamp(-limit, limit)", "up.clamp(max=limit)"),
    swap(
        "balancing starts at 1",
        "nn.init.zeros_(self.selection_bias)",
        "nn.init.ones_(self.selection_bias)",
    ),
    swap(
        "the selection bias is not saved",
        'self.register_buffer("selection_bias", _b)',
        'self.register_buffer("selection_bias", _b, persistent=False)',
    ),
)

NORMS = (
    swap(
        "eps outside the root",
        "torch.rsqrt(_mean + self.eps)",
        "1 / (torch.sqrt(_mean) + self.eps)",
    ),
    swap("sum in place of mean", "_x.mean(-1, keepdim=True)", "_x.sum(-1, keepdim=True)"),
    swap("norm in low precision", "x.to(torch.promote_types(x.dtype, torch.float32))", "x"),
)

CACHES = (
    swap("cache.length never moves", "cache.length = end", "pass"),
    swap(
        "values cached in the place of keys",
        "self.keys[:, :, start:end] = k",
        "self.keys[:, :, start:end] = v",
    ),
    swap("all the room is read", "self.keys[:, :, :end]", "self.keys"),
    swap("only new values are read", "self.values[:, :, :end]", "self.values[:, :, start:end]"),
)

CALLS = (
    swap("width of a mask not checked", "mask.shape == (batch, length)", "True"),
    swap("type of a mask not checked", "mask.dtype == torch.bool", "True"),
    swap("length not checked", "length > limit", "False"),
    swap("room of the cache not checked", "cache.capacity < end", "False"),
    swap("batch of the cache not checked", "cache.batch != batch", "False"),
    swap("the last place pooled", "x[:, 0]", "x[:, -1]"),
    swap("norms not reset", "module.reset_parameters()", "pass"),
    swap("biases start at 1", "nn.init.zeros_(module.bias)", "nn.init.ones_(module.bias)"),
    swap("initial std halved", "nn.init.normal_(_w, std=_s)", "nn.init.normal_(_w, std=_s / 2)"),
    swap(
        "the tied matrix is a copy",
        "F.linear(_x, self.embedding.weight)",
        "F.linear(_x, self.embedding.weight.detach())",
    ),
    swap(
        "the tied matrix of few rows is a copy",
        "linear(_x, self.embedding.weight)",
        "linear(_x, self.embedding.weight.detach())",
    ),
)

CODE_MUTANTS: tuple[CodeMutant, ...] = (
    *MASKS,
    *POSITIONS,
    *TABLES,
    *PROJECTIONS,
    *ATTENTION,
    *CODE_ATTENTION,
    *BLOCKS,
    *EXPERTS,
    *NORMS,
    *CACHES,
    *DECODING,
    *CALLS,
)
