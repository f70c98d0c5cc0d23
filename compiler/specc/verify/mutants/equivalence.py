"""Tests the claim that a mutant cannot matter: on every fixture it must answer as golden does.

Of a wrong choice golden itself is asked, under the wrong IR; of wrong code the mutated file.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from specc import golden
from specc.ir.model import Model
from specc.ir.walk import resize
from specc.verify.calls import Outputs, flat
from specc.verify.loading import loaded
from specc.verify.metrics import worst_error
from specc.verify.subject import Case, Known, Subject
from specc.verify.weights import stress_weights

LIMIT = 1e-12


def refuted(model: Model, text: str, edited: Model | None, known: Known) -> str | None:
    """Where the claim fails, or None: it holds on all fixtures."""
    with loaded(text, model.name) as file:
        subject = Subject(model, file, known=known)
        for case in subject.cases:
            found = _of_file(subject, case) if edited is None else _of_golden(subject, case, edited)
            error, output = worst_error(found, flat(subject.golden(case).outputs))
            if error > LIMIT:
                return f"{output} differs by {error:.1e}, {case.name}"
    return None


def _of_file(subject: Subject, case: Case) -> Outputs:
    live = subject.build_stressed(regime=case.regime)
    return subject.outputs(live, case.inputs)


def _of_golden(subject: Subject, case: Case, edited: Model) -> Outputs:
    """What golden makes of the edited model with the same weights, those it has beside drawn."""
    small = resize(edited, subject.numbers)
    own: Mapping[str, Tensor] = stress_weights(small, case.regime)
    given = subject.weights(case.regime)
    with torch.no_grad():
        weights = {name: given.get(name, tensor) for name, tensor in own.items()}
        return flat(golden.run(small, weights, case.inputs).outputs)
