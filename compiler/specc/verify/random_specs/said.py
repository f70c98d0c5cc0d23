"""Moves facts of a spec's body into its style line: `norm: rms` becomes the word "RMS norm"."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from specc.verify.random_specs.yaml_text import Tree

Said = tuple[str, ...]  # spellings of one word; none: the body says what no word says

_KINDS = {
    "decoder": ("decoder", "Decoder-only"),
    "encoder": ("encoder", "encoder only"),
    "encoder_decoder": ("encoder-decoder", "ENCODER DECODER"),
    "features": ("set", "features"),
}
_POSITIONS = {
    "sinusoidal": ("sinusoidal",),
    "learned": ("learned positions", "Learned-Positions"),
    "rope": ("rope", "rotary", "RoPE"),
    "alibi": ("alibi", "ALiBi"),
    "none": ("no positions",),
}
_ACTIVATIONS = {
    "relu": ("relu", "ReLU"),
    "relu_squared": ("relu squared",),
    "gelu_erf": ("GELU", "gelu"),
    "gelu_tanh": ("gelu tanh", "gelu-tanh"),
    "silu": ("silu",),
}
_GATED = {"silu": ("swiglu", "SwiGLU"), "gelu_erf": ("geglu",), "relu": ("ReGLU",)}


def _kind(body: Tree) -> Said:
    return _KINDS[body.pop("kind")]


def _placement(body: Tree) -> Said:
    word = body["block"].pop("norm_placement").replace("_", "-")
    return (f"{word}-norm", f"{word} norm".title())


def _wiring(body: Tree) -> Said:
    if "wiring" not in body["block"]:
        return ()
    del body["block"]["wiring"]
    return ("parallel",)


def _norm(body: Tree) -> Said:
    node = body.get("norm")
    kind = node if isinstance(node, str) else (node or {}).get("kind")
    if kind is None:
        return ()
    if isinstance(node, dict):
        del node["kind"]
    else:
        del body["norm"]
    return ("rms norm", "RMSNorm") if kind == "rms" else ("layer norm", "LayerNorm")


def _position(body: Tree) -> Said:
    if "position" not in body:
        return ()
    return _POSITIONS[body["position"].pop("kind")]


def _activation(body: Tree) -> Said:
    node = body["feed_forward"]
    if node.get("kind") == "glu":
        if node["activation"] not in _GATED:
            return ()
        del node["kind"]
        return _GATED[node.pop("activation")]
    return _ACTIVATIONS[node.pop("activation")]


def _biases(body: Tree) -> Said:
    nodes = [body[key] for key in ("attention", "feed_forward") if key in body]
    flags = {str(node.get("bias")) for node in nodes}
    if len(nodes) < 2 or flags not in ({"True"}, {"False"}):
        return ()
    for node in nodes:
        del node["bias"]
    return ("biases", "Biases") if flags == {"True"} else ("no bias",)


def _one_kv_head(body: Tree) -> Said:
    if body.get("attention", {}).get("n_kv_heads") != 1:
        return ()
    del body["attention"]["n_kv_heads"]
    return ("mqa", "multi-query")


def _qk_norm(body: Tree) -> Said:
    if body.get("attention", {}).get("qk_norm") != "rms":
        return ()
    del body["attention"]["qk_norm"]
    return ("qk-norm", "QK norm")


def _tied(body: Tree) -> Said:
    head = body.get("head")
    is_shared = body["kind"] != "encoder_decoder" or body.get("embedding", {}).get("shared")
    if not isinstance(head, dict) or not head.get("tied") or not is_shared:
        return ()
    del head["tied"]
    if body["kind"] == "encoder_decoder":
        del body["embedding"]["shared"]
    return ("tied", "tied weights")


MOVES: tuple[Callable[[Tree], Said], ...] = (
    _tied,
    _placement,
    _wiring,
    _norm,
    _position,
    _activation,
    _biases,
    _one_kv_head,
    _qk_norm,
    _kind,
)


@st.composite
def in_style(draw: DrawFn, body: Tree) -> Tree:
    """The same spec with some of its facts said in the style line."""
    if not draw(st.booleans()):
        return body
    words = []
    said = deepcopy(body)
    for move in MOVES:
        if not draw(st.booleans()):
            continue
        spellings = move(said)
        if spellings:
            words.append(draw(st.sampled_from(spellings)))
    if not words:
        return body
    kept = {key: value for key, value in said.items() if value != {}}
    return {"style": ", ".join(reversed(words)), **kept}
