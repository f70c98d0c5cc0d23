"""Wrong code in what attention looks at, how it scores, and how latents unfold."""

from __future__ import annotations

from specc.ir.attention import Attention, Window
from specc.ir.model import Model
from specc.ir.positions import Alibi, LongRopeScaling, YarnScaling
from specc.ir.walk import walk
from specc.verify.mutants.code_mutant import CodeMutant, swap
from specc.verify.mutants.patterns import replaced
from specc.verify.mutants.stretching import same_factors

WIDE_CAP = 40  # e^-40 is 4e-18

_CAP = "softcap * torch.tanh(scores / softcap)"
_FAR = "query - key < window"
_FIRST = "start - window + 1"
_EARLY = "_mask[:, None, None, : end - first]"
_WIDTHS = "self.kv_widths"
_UNFOLD = f"k, v = torch.split(unfolded, {_WIDTHS}, -1)"


def _cap_late(text: str) -> str | None:
    """Two places: the cap goes from above the mask to below it."""
    uncapped = replaced(text, _CAP, "scores")
    return uncapped and replaced(uncapped, "scores.softmax(dim=-1)", f"({_CAP}).softmax(dim=-1)")


def _hidden_by_the_cap(model: Model) -> str | None:
    """Why a masked key may count: e^-cap of its weight is less than any rounding."""
    parts = [part for part in walk(model.stacks) if isinstance(part, Attention)]
    if any(part.softcap is not None and part.softcap.value < WIDE_CAP for part in parts):
        return None
    return "masked keys weigh e^-cap or less, which no number of the output shows"


def _hidden_by_the_bias(model: Model) -> str | None:
    """Why a window need not hide the future."""
    parts = [part for part in walk(model.stacks) if isinstance(part, Attention)]
    if all(isinstance(part.position, Alibi) for part in parts if isinstance(part.reach, Window)):
        return "what biases the scores by distance hides the future too"
    return None


def _no_gain(model: Model) -> str | None:
    """Why the factor of cos and sin may be left out."""
    scalings = [p for p in walk(model.stacks) if isinstance(p, YarnScaling | LongRopeScaling)]
    if any(scaling.attention_factor.value != 1 for scaling in scalings):
        return None
    return "the factor is 1"


def _all_keys_first() -> str:
    """The rows of kv_up read as all keys, then all values."""
    flat, n_keys = "merge_heads(unfolded)", f"self.n_heads * {_WIDTHS}[0]"
    keys = f"split_heads({flat}[..., : {n_keys}], {_WIDTHS}[0])"
    return f"k, v = {keys}, split_heads({flat}[..., {n_keys} :], {_WIDTHS}[1])"


REACH: tuple[CodeMutant, ...] = (
    swap("window: one key too many", _FAR, "query - key <= window"),
    swap("window: one key too few", _FAR, "query - key < window - 1"),
    swap("window: the future is visible", f"(key <= query) & ({_FAR})", _FAR, _hidden_by_the_bias),
    swap("both sides: one key too few", "distance <= window", "distance < window"),
    swap(
        "both sides: only the past is near",
        "(place - place[:, None]).abs()",
        "(place[:, None] - place) % (1 << 20)",
    ),
    swap("window: padding visible", "(near & real) | _itself", "near | _itself"),
    swap(
        "both sides: padding visible",
        "(near & token_mask[:, None, None, :]) | _itself",
        "near | _itself",
    ),
    swap(
        "chunks of columns", "token_mask.cumsum(1) - 1", "torch.ones_like(token_mask).cumsum(1) - 1"
    ),
    swap(
        "chunks one token late",
        "key // chunk == query // chunk",
        "(key + 1) // chunk == (query + 1) // chunk",
    ),
    swap("chunk: the future is visible", "past & same[:, None] & real", "same[:, None] & real"),
    swap("chunk: padding visible", "past & same[:, None] & real", "past & same[:, None]"),
)

KEPT: tuple[CodeMutant, ...] = (
    swap("window: kept one too short", "min(_w - 1, capacity)", "min(_w - 2, capacity)"),
    swap("window: kept one too long", "min(_w - 1, capacity)", "min(_w, capacity)"),
    swap("window: the oldest stay", "k[:, :, k.size(2) - room :]", "k[:, :, :room]"),
    swap("window: old values stay", "self.values.copy_(_v)", "self.values"),
    swap(
        "window: new tokens before the kept ones",
        "torch.cat((self.keys[:, :, :start], k), dim=2)",
        "torch.cat((k, self.keys[:, :, :start]), dim=2)",
    ),
    swap(
        "window: kept values with new keys",
        "torch.cat((self.values[:, :, :start], v), dim=2)",
        "torch.cat((self.values[:, :, :start], k), dim=2)",
    ),
    swap("window: columns of all tokens", f"max(0, {_FIRST})", "0"),
    swap("window: the first column is one too late", _FIRST, "start - window + 2"),
    swap("window: a mask of the first columns", "_mask[:, None, None, first:]", _EARLY),
    swap("window: mask inverted", "_mask[:, None, None, first:]", "~_mask[:, None, None, first:]"),
    swap("window: biases of the first columns", "_b[..., -_n:]", "_b[..., :_n]"),
)

SCORES: tuple[CodeMutant, ...] = (
    CodeMutant("code: softcap after the mask", _cap_late, _hidden_by_the_cap),
    swap("softcap: x tanh(x / cap)", _CAP, "scores * torch.tanh(scores / softcap)"),
    swap(
        "softcap: before the scale", _CAP, "scale * softcap * torch.tanh(scores / scale / softcap)"
    ),
    swap(
        "sink: the last key weighs as the sink",
        "_w.softmax(dim=-1)[..., :-1]",
        "_w.softmax(dim=-1)[..., 1:]",
    ),
    swap("sink: scaled as a score", "sinks.view(-1, 1, 1)", "(scale * sinks.view(-1, 1, 1))"),
    swap("sink: one for all heads", "sinks.view(-1, 1, 1)", "sinks[:1].view(-1, 1, 1)"),
    swap(
        "sink: no weight",
        "torch.cat((scores, sink), dim=-1)",
        "torch.cat((scores, sink - 1e9), dim=-1)",
    ),
    swap("temperature: position off by one", "position.double() + 1", "position.double()"),
    swap(
        "temperature: not in steps",
        "((position.double() + 1) / floor).floor()",
        "((position.double() + 1) / floor)",
    ),
    swap("temperature: ln of the steps", "steps.log1p()", "steps.clamp(min=1).log()"),
    swap("norm of q after the turn left out", "self.q_norm(q)", "q"),
    swap(
        "logits: x tanh(x / cap)",
        "_c * torch.tanh(logits / _c)",
        "logits * torch.tanh(logits / _c)",
    ),
    swap(
        "the residual multiplier left out",
        "x + self.residual_multiplier * added",
        "x + added",
    ),
    swap(
        "the residual multiplier on the stream too",
        "x + self.residual_multiplier * added",
        "self.residual_multiplier * (x + added)",
    ),
)

LATENT: tuple[CodeMutant, ...] = (
    swap("latent: the norm left out", "self.kv_norm(latent)", "latent"),
    swap(
        "latent: the norm of queries left out",
        "low = self.q_norm(_x)",
        "low = _x",
    ),
    swap(
        "latent: the shared key not turned",
        "rotate(key.unsqueeze(1), _cos, _sin)",
        "key.unsqueeze(1)",
    ),
    swap("latent: queries not turned", "rotate(q_turned, _cos, _sin)", "q_turned"),
    swap("latent: the scale of N only", "head_width**-0.5", "self.q_widths[0] ** -0.5"),
    swap(
        "latent: values before keys", _UNFOLD, f"v, k = torch.split(unfolded, {_WIDTHS}[::-1], -1)"
    ),
    swap("latent: all keys before all values", _UNFOLD, _all_keys_first()),
    swap(
        "latent: R before N",
        "q, q_turned = torch.split(q, self.q_widths, -1)",
        "q_turned, q = torch.split(q, self.q_widths[::-1], -1)",
    ),
)

STRETCHING: tuple[CodeMutant, ...] = (
    swap(
        "rotary: the factor on cosines only",
        "angle.sin() * self.attention_factor",
        "angle.sin()",
        _no_gain,
    ),
    swap(
        "yarn: the ramp the other way",
        "ramp / self.factor + 1 - ramp",
        "(1 - ramp) / self.factor + ramp",
    ),
    swap(
        "longrope: factors multiplied",
        "self.theta ** (-pair / half) / divisor",
        "self.theta ** (-pair / half) * divisor",
    ),
    swap(
        "longrope: always short",
        "(seen > self.original_max_seq_len).long()",
        "(seen * 0).long()",
        same_factors,
    ),
)

CODE_ATTENTION: tuple[CodeMutant, ...] = (*REACH, *KEPT, *SCORES, *LATENT, *STRETCHING)
