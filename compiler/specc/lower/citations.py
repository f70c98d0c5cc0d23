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
    return tuple(
        Citation(path, citation_text(entry), config_names.get(path))
        for path, entry in ledger.items()
    )


def citation_text(entry: schema.LedgerEntry) -> str:
    """One line: where it is said, or that it is not, what was chosen, why, and what else could be.

    `§3.1: "LayerNorm(x + Sublayer(x))"`, `not stated; 1e-6: as in the authors' code (else 1e-5)`.
    """
    match entry.status:
        case "stated":
            return _with_details(entry.at or "stated", entry)
        case "figure":
            return _with_details(entry.at or "a figure", entry)
        case "official_code":
            return _with_details(_place("official code", entry), entry)
        case "unstated":
            return _unstated(entry)
        case "deviates":
            return _with_details(_place("deviates", entry), entry)
        case _:
            assert_never(entry.status)


def _place(words: str, entry: schema.LedgerEntry) -> str:
    return words if entry.at is None else f"{words} ({entry.at})"


def _with_details(head: str, entry: schema.LedgerEntry) -> str:
    quote = None if entry.quote is None else f'"{entry.quote}"'
    details = "; ".join(filter(None, (quote, entry.because)))
    return f"{head}: {details}" if details else head


def _unstated(entry: schema.LedgerEntry) -> str:
    choice = None if entry.choice is None else plain(entry.choice)
    text = ": ".join(filter(None, (choice, entry.because)))
    others = ", ".join(plain(other) for other in entry.alternatives)
    head = f"not stated; {text}" if text else "not stated"
    return f"{head} (else {others})" if others else head


def plain(choice: Choice) -> str:
    """A value as a person writes it: 1e-06 is 1e-6."""
    if not isinstance(choice, float):
        return str(choice).lower() if isinstance(choice, bool) else str(choice)
    mantissa, mark, exponent = repr(choice).partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa
