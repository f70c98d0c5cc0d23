"""Rotary positions in all the ways in which configs have written them: keys of their own, the
legacy `rope_scaling` with `type`, and `rope_parameters` that hold everything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from specc.importers.config import Cited, Config
from specc.importers.draft import Draft, Part

_TYPES = {
    "default": "none",
    "none": "none",
    "linear": "linear",
    "dynamic": "dynamic",
    "llama3": "llama3",
    "yarn": "yarn",
    "longrope": "longrope",
    "su": "longrope",
    "proportional": "proportional",
}


def rope(
    config: Config,
    draft: Draft,
    *,
    theta: float = 10000.0,
    fraction: float = 1.0,
    layout: str = "half",
    theta_key: str = "rope_theta",
    fraction_key: str = "partial_rotary_factor",
    original: Cited[int] | None = None,
) -> Part:
    """Rotary positions in every layer. Returns what was said below `position.`; `original` is
    what the config itself says of the length before stretching.
    """
    part = rope_part(
        config,
        parameters(config),
        theta=theta,
        fraction=fraction,
        theta_key=theta_key,
        fraction_key=fraction_key,
        original=original,
    )
    draft.put_all(kind_part(config, layout), "position.")
    draft.put_all(part, "position.")
    return part


def kind_part(config: Config, layout: str) -> Part:
    """The kind of position and its layout."""
    layouts = {
        "half": "a feature is paired with the one half a head further",
        "interleaved": "neighbouring features are pairs",
    }
    return {
        "kind": config.code("rope", "queries and keys are turned by their position"),
        "layout": config.code(layout, layouts[layout]),
    }


def parameters(config: Config) -> Config | None:
    """The mapping that holds what is said of rotary positions; the older name goes first."""
    legacy, current = config.inner("rope_scaling"), config.inner("rope_parameters")
    if legacy is not None and current is not None:
        message = "both rope_scaling and rope_parameters are there: one says the whole"
        config.refuse("rope_scaling", message, "leave out the older, rope_scaling")
    return legacy or current


def rope_part(
    config: Config,
    inner: Config | None,
    *,
    theta: float,
    fraction: float = 1.0,
    theta_key: str = "rope_theta",
    fraction_key: str = "partial_rotary_factor",
    original: Cited[int] | None = None,
) -> Part:
    """theta, fraction and scaling; `inner` goes before the keys of `config` itself."""
    found: dict[str, Cited[Any]] = {}
    found["theta"] = _either(config, inner, theta_key, "rope_theta", theta)
    turned = _either(config, inner, fraction_key, "partial_rotary_factor", fraction)
    if turned.value != 1.0:
        found["fraction"] = turned
    if inner is not None:
        found.update(_scaling(config, inner, original))
    return found


def _either(
    config: Config, inner: Config | None, key: str, inner_key: str, default: float
) -> Cited[float]:
    """A number that the mapping or the config says; the mapping's counts."""
    said = None if inner is None else inner.optional_number(inner_key)
    if said is None:
        return config.number(key, default)
    config.ignore({key: f"{inner_key} inside the rotary parameters counts"})
    return said


def _scaling(config: Config, inner: Config, original: Cited[int] | None) -> Part:
    legacy = "rope_type" if inner.has("rope_type") else "type"
    if legacy == "rope_type":
        inner.ignore({"type": "the older name of rope_type"})
    kind = inner.word(legacy, _TYPES, "default", "rotary scaling")
    match kind.value:
        case "none":
            inner.ignore(_OTHERS)
            if inner.is_refused(legacy):
                inner.pass_over()
            return {}
        case "longrope":
            return _below(kind, _longrope(config, inner, original))
        case "proportional":
            return _below(kind, {})
        case "linear":
            return _below(kind, {"factor": inner.number("factor")})
        case "dynamic":
            longest = {"original_max_seq_len": config.count("max_position_embeddings")}
            inner.ignore({"original_max_position_embeddings": "max_position_embeddings counts"})
            return _below(kind, {"factor": inner.number("factor"), **longest})
        case "llama3":
            bounds = {key: inner.number(key) for key in ("low_freq_factor", "high_freq_factor")}
            return _below(
                kind,
                {
                    "factor": inner.number("factor"),
                    **bounds,
                    "original_max_seq_len": _first(config, inner, original),
                },
            )
        case _:
            return _below(kind, _yarn(config, inner, original))


_OTHERS = dict.fromkeys(
    ("factor", "original_max_position_embeddings", "attention_factor"),
    "without a scaling nothing reads it",
)


def _below(kind: Cited[str], fields: Mapping[str, Cited[Any]]) -> Part:
    return {"scaling.kind": kind, **{f"scaling.{key}": value for key, value in fields.items()}}


def _first(config: Config, inner: Config, original: Cited[int] | None) -> Cited[int]:
    """How long texts were before they were stretched."""
    key = "original_max_position_embeddings"
    if original is not None or config.has(key):
        inner.ignore({key: "the same key of the config itself counts"})
        return original or config.count(key)
    return inner.optional_count(key) or config.count("max_position_embeddings")


def _yarn(config: Config, inner: Config, first: Cited[int] | None) -> Part:
    found: dict[str, Cited[Any]] = {}
    original = _first(config, inner, first)
    factor = inner.optional_number("factor")
    if factor is not None:
        found["factor"] = factor
    else:
        longest = config.count("max_position_embeddings").value
        because = "max_position_embeddings over original_max_position_embeddings"
        found["factor"] = Cited(longest / original.value, original.at, because)
    found["original_max_seq_len"] = original
    for key in ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"):
        said = inner.optional_number(key)
        if said is not None and said.value != 0:
            found[key] = said
    if inner.has("truncate"):
        found["truncate"] = inner.flag("truncate", True)
    return found


def _longrope(config: Config, inner: Config, first: Cited[int] | None) -> Part:
    found: dict[str, Cited[Any]] = {}
    for ours, key in (("short_factors", "short_factor"), ("long_factors", "long_factor")):
        factors = inner.numbers(key)
        if factors is None and not config.log.problems:
            config.refuse("rope_scaling", f"longrope needs a list {key}")
        found[ours] = factors or Cited([1.0], "")
    original = _first(config, inner, first)
    found["original_max_seq_len"] = original
    given = inner.optional_number("attention_factor")
    factor = inner.optional_number("factor")
    if given is not None:
        found["attention_factor"] = given
    elif factor is not None:
        grown = max(1.0, math.log(max(factor.value, 1.0)) / math.log(max(original.value, 2)) + 1.0)
        because = "sqrt(1 + ln factor / ln original_max_position_embeddings)"
        found["attention_factor"] = Cited(math.sqrt(grown), factor.at, because)
    return found
