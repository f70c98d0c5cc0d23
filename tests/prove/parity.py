"""Every importable model against transformers: `python -m tests.prove.parity`."""

from __future__ import annotations

import json
import sys

import transformers

from specc.importers import import_config
from specc.importers.hf_configs import Dialect, dialect_of
from specc.pipeline import read_model
from specc.verify.against import verify_against
from specc.verify.against.comparisons import LIMIT
from specc.verify.report import CheckResult, Report, Status
from tests.importers.variants import VARIANTS
from tests.prove.tables import PUBLISHED, for_each, say, spec_file, table, write

JUDGED = ("logits", "layers", "padded", "cached", "float64")
_SMALL = {
    "vocab_size": 96,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 80,
    "max_position_embeddings": 128,
}
_ROPES = (
    {"rope_type": "linear", "factor": 4.0},
    {"rope_type": "dynamic", "factor": 4.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32},
)
MORE = [
    *VARIANTS,
    ("bert", {**_SMALL, "architectures": ["BertModel"]}),
    *(("llama", {**_SMALL, "rope_parameters": {"rope_theta": 1e4, **each}}) for each in _ROPES),
]
SIZES = {*_SMALL, "n_embd", "n_layer", "n_head", "n_positions", "num_key_value_heads", "d_model"}


def main() -> int:
    """Run them all; 1 when one lies too far."""
    names = [name for name in PUBLISHED if read_model(spec_file(name)).layout is not None]
    reports = for_each(_one, names)
    variants = for_each(_variant, MORE)
    write(
        "parity.md",
        "# Parity with transformers",
        f"Written by `make prove`; transformers {transformers.__version__}. Each model is built"
        " small from its spec, filled with random stress weights that go to the library as a"
        " published checkpoint and come back, and compared with the library's own class. Relative"
        f" errors are max|a - b| / max|b|; those of float32 and of float64 must stay below"
        f" {LIMIT:.0e}. Many classes compute parts in float32 whatever their dtype.",
        table(
            ("spec", "class", "oracle", *(f"{n}" for n in JUDGED)),
            [(name, *_class(name), *_errors(report)) for name, report in _both(names, reports)],
        ),
        "## Variants",
        "Small configs, imported: what each asks for beyond its sizes.",
        table(
            ("config", "class", *JUDGED, "canary"),
            [
                (_shown_config(*given), _last(report), *_errors(report), _swaps(report))
                for given, report in zip(MORE, variants, strict=True)
            ],
        ),
        "## There and back, and the canary",
        "Every tensor has the same bytes after both conversions. The canary swaps every two"
        " published tensors of one shape, one pair at a time: parity must notice.",
        table(
            ("spec", "round trip", "canary", "bfloat16"),
            [
                (name, *(_evidence(report, n) for n in ("round_trip", "canary", "bfloat16")))
                for name, report in _both(names, reports)
            ],
        ),
    )
    reports += variants
    bad = [(r.spec, check) for r in reports for check in r.failures]
    for spec, check in bad:
        say(f"{spec}: {check.name}: {check.evidence}")
    worst = max(_value(check) for r in reports for check in r.checks if check.name != "float64")
    say(f"{len(reports)} models, {len(bad)} failures; the largest error is {worst:.1e}")
    return 1 if bad else 0


def _one(name: str) -> Report:
    return verify_against(spec_file(name))


def _variant(given: tuple[str, dict[str, object]]) -> Report:
    return verify_against(text=imported(*given))


def imported(model_type: str, values: dict[str, object]) -> str:
    """The spec of a config."""
    data = json.dumps({"model_type": model_type, **values}).encode()
    return import_config(data, "config.json", "imported").text


def dialects() -> set[Dialect]:
    """Those that the proof reaches."""
    models = [read_model(spec_file(name)) for name in PUBLISHED]
    models += [read_model(text=imported(*given)) for given in MORE]
    return {dialect_of(model) for model in models if model.layout is not None}


def _shown_config(model_type: str, values: dict[str, object]) -> str:
    asked = {name: value for name, value in values.items() if name not in SIZES}
    return f"{model_type}: {', '.join(f'{n} {v}' for n, v in asked.items()) or 'plain'}"


def _last(report: Report) -> str:
    return report.spec.split()[-1]


def _swaps(report: Report) -> str:
    return _evidence(report, "canary").partition(" swaps")[0]


def _both(names: list[str], reports: list[Report]) -> list[tuple[str, Report]]:
    return list(zip(names, reports, strict=True))


def _class(name: str) -> tuple[str, str]:
    dialect = dialect_of(read_model(spec_file(name)))
    notes = "; ".join(filter(None, (dialect.because, dialect.padded_because)))
    return dialect.architecture, dialect.attention + (f" ({notes})" if notes else "")


def _errors(report: Report) -> list[str]:
    checks = {check.name: check for check in report.checks}
    return [_shown(checks[name]) for name in JUDGED]


def _shown(check: CheckResult) -> str:
    return "-" if check.status is Status.NOT_APPLICABLE else f"{_value(check):.1e}"


def _value(check: CheckResult) -> float:
    return 0.0 if check.margin is None else check.margin * LIMIT


def _evidence(report: Report, name: str) -> str:
    (check,) = (check for check in report.checks if check.name == name)
    return check.evidence.removeprefix("reported, not judged: bfloat16 ")


if __name__ == "__main__":
    sys.exit(main())
