"""Strategies for positions: tables at the input, turns with all their scalings, biases, none."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.parts import Draws, Sizes, some
from specc.verify.random_specs.yaml_text import Tree

TABLE_KINDS = ("sinusoidal", "learned")  # of a whole stack; the others are a layer type's own
INDICES = ("mask", "arange")


@dataclass(frozen=True)
class Turning:
    """The head that turns; `whole`: no fraction of it, as in latent attention."""

    head_dim: int
    whole: bool


def turning(body: Tree, fit: Sizes) -> Turning:
    """What turns in this spec's self-attention."""
    attention = body.get("attention", {})
    if attention.get("kind") == "latent":
        return Turning(attention["rope_head_dim"], True)
    return Turning(fit.head_dim, False)


def positions(
    fit: Sizes, *kinds: str, turns: Turning | None = None, index: str | None = None
) -> SearchStrategy[Tree]:
    """A position of one of these kinds, always a mapping; `index` is what the stack counts by."""
    frequencies = ["2k/d", "k/(half-1)"] if fit.d_model % 2 == 0 and fit.d_model > 2 else ["2k/d"]
    counts = st.sampled_from(INDICES) if index is None else st.just(index)
    ids = st.sampled_from([*INDICES, "ids"]) if index is None else counts
    drawn: dict[str, SearchStrategy[Tree]] = {
        "none": some({"kind": st.just("none")}),
        "sinusoidal": some(
            {"kind": st.just("sinusoidal")},
            layout=st.sampled_from(["interleaved", "concat"]),
            frequency=st.sampled_from(frequencies),
            index=counts,
        ),
        "learned": some({"kind": st.just("learned")}, offset=st.integers(0, 3), index=ids),
        "alibi": some({"kind": st.just("alibi")}),
        "rope": _rope(turns or Turning(fit.head_dim, False)),
    }
    chosen = st.one_of([drawn[kind] for kind in kinds])
    return chosen if index is None else chosen.map(lambda node: _counted(node, index))


def _counted(node: Tree, index: str) -> Tree:
    return {**node, "index": index} if node["kind"] == "rope" else node


@st.composite
def _rope(draw: DrawFn, turns: Turning) -> Tree:
    parts: list[float | str] = [1.0] if turns.whole else [1.0, 0.5, 0.34, "50%", 0.75]
    fitting = [each for each in parts if _turned(turns, each) > 0 and _turned(turns, each) % 2 == 0]
    node = draw(
        some(
            {"kind": st.just("rope")},
            theta=st.sampled_from([10000, 100, 1e6, 500.5]),
            layout=st.sampled_from(["half", "interleaved"]),
            index=st.sampled_from(INDICES),
        )
    )
    if not turns.whole and draw(st.booleans()):
        node["fraction"] = draw(st.sampled_from(fitting or [1.0]))
        node["slice"] = draw(st.sampled_from(["first", "last"]))
    if draw(st.booleans()):
        n_pairs = _turned(turns, node.get("fraction", 1.0)) // 2
        plain = node.get("layout", "half") == "half" and node.get("slice", "first") == "first"
        kind = draw(st.sampled_from(_kinds(n_pairs, plain)))
        scaling = draw(_scalings(n_pairs)[kind])
        spellings = [{"kind": kind, **scaling}, {kind: scaling}]
        node["scaling"] = draw(st.sampled_from(spellings if scaling else spellings[:1]))
    return node


def _turned(turns: Turning, fraction: float | str) -> int:
    return int(turns.head_dim * (0.5 if isinstance(fraction, str) else fraction))


def _kinds(n_pairs: int, plain: bool) -> list[str]:
    found = ["linear", "llama3", "yarn", "longrope"]
    found += ["dynamic"] if n_pairs > 1 else []
    return found + (["proportional"] if plain else [])


def _scalings(n_pairs: int) -> dict[str, SearchStrategy[Tree]]:
    """The fields of each kind of scaling."""
    factor = st.sampled_from([2, 2.5, 8.0])
    short = st.sampled_from([3, 8, 64, "2 * max_seq_len"])
    factors = st.lists(st.sampled_from([1, 1.5, 4]), min_size=n_pairs, max_size=n_pairs)
    gain: Draws = st.sampled_from([1.2, 0.9])
    return {
        "linear": some({"factor": factor}),
        "llama3": some(
            {
                "factor": factor,
                "low_freq_factor": st.sampled_from([1, 0.5]),
                "high_freq_factor": st.sampled_from([4, 1.5]),
                "original_max_seq_len": st.sampled_from([8, 64, "2 * max_seq_len"]),
            }
        ),
        "dynamic": some({"factor": factor, "original_max_seq_len": short}),
        "yarn": some(
            {"factor": factor, "original_max_seq_len": short},
            beta_fast=st.sampled_from([32, 4]),
            beta_slow=st.sampled_from([1, 0.25]),
            attention_factor=gain,
            mscale=st.sampled_from([1, 0.7]),
            mscale_all_dim=st.sampled_from([1, 0.5]),
            truncate=st.booleans(),
        ),
        "longrope": some(
            {"short_factors": factors, "long_factors": factors, "original_max_seq_len": short},
            attention_factor=gain,
        ),
        "proportional": some({}),
    }
