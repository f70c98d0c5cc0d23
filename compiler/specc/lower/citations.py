"""The ledger as comments: where each choice comes from, in one line of plain words."""

from __future__ import annotations

from collections.abc import Mapping

from specc.ir.exhaustive import assert_never
from specc.ir.model import Citation
from specc.spec import schema

Choice = str | int | float | bool


def citations(
    ledger: Mapping[str, schema.LedgerEntry], config_names: Mapping[str, str | None]
) -> tuple[Citation, ...]:
    """One citation an entry, in order; `config_names` maps schema paths to `Config` names."""
    return tuple(_citation(path, entry, config_names.get(path)) for path, entry in ledger.items())


def _citation(path: str, entry: schema.LedgerEntry, config_name: str | None) -> Citation:
    return Citation(path, citation_text(entry, config_name is not None), config_name)


def citation_text(entry: schema.LedgerEntry, value_shown: bool = False) -> str:
    """One line: where it is said, or that it is not, what was chosen, why, and what else could be.

    `§3.1: "LayerNorm(x + Sublayer(x))"`, `model.py: a trained table`, `unlike model.py: ...`,
    `not stated; pre: as is usual (else post)`. `value_shown`: the value stands beside the line
    already, so the choice is left out.
    """
    match entry.status:
        case "stated":
            return _with_details(entry.at or "stated", entry)
        case "figure":
            return _with_details(entry.at or "a figure", entry)
        case "official_code":
            return _with_details(entry.at or "official code", entry)
        case "unstated":
            return _unstated(entry, value_shown)
        case "deviates":
            return _with_details(f"unlike {entry.at}" if entry.at else "deviates", entry)
        case _:
            assert_never(entry.status)


def _with_details(head: str, entry: schema.LedgerEntry) -> str:
    quote = None if entry.quote is None else f'"{entry.quote}"'
    details = "; ".join(filter(None, (quote, entry.because)))
    return f"{head}: {details}" if details else head


def _unstated(entry: schema.LedgerEntry, value_shown: bool) -> str:
    head = "not stated"
    if entry.choice is not None and not value_shown:
        head += f"; {plain(entry.choice)}"
    others = ", ".join(plain(other) for other in entry.alternatives)
    text = _with_details(head, entry)
    return f"{text} (else {others})" if others else text


def plain(choice: Choice) -> str:
    """A value as a person writes it: 1e-06 is 1e-6."""
    if not isinstance(choice, float):
        return str(choice).lower() if isinstance(choice, bool) else str(choice)
    mantissa, mark, exponent = repr(choice).partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa
