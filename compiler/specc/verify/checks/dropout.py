"""Dropout: off in eval, live in training, and each at its place."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from specc.ir.attention import Attention, LatentAttention
from specc.ir.feed_forward import Glu, Mlp
from specc.ir.layers import DropoutSite
from specc.ir.model import Model
from specc.verify.checks.check import Check, counted
from specc.verify.inputs import beginning
from specc.verify.metrics import differing_share, margin, worst_error
from specc.verify.places import DropoutPlace, dropout_places, sublayers
from specc.verify.report import Outcome, differs, failed, not_applicable, passed
from specc.verify.subject import Subject
from specc.verify.trace import traffic

LIMIT = 1e-12
SHORT = 4  # places
NONE = "the spec drops nothing"


def _set(live: nn.Module, places: tuple[DropoutPlace, ...], p: float) -> None:
    for place in places:
        place.set(live, p)


@dataclass(frozen=True)
class EvalDeterminism(Check):
    """In eval mode nothing is random, with every dropout at 0.5, and no call leaves a trace."""

    name: str = "eval_determinism"

    def run(self, subject: Subject) -> Outcome:
        """Run three times, with every dropout at 0.5; and a short input before and after."""
        live = subject.build_stressed()
        short = beginning(subject.plain, SHORT)
        first = subject.outputs(live, short)
        plain = subject.outputs(live, subject.padded)
        places = dropout_places(subject.small)
        _set(live, places, 0.5)
        for _ in range(2):
            found = subject.outputs(live, subject.padded)
            error, output = worst_error(found, plain)
            if error > 0.0:
                text = f"{output} changes by {error:.1e} from run to run in eval mode"
                return differs(text, differing_share(found, plain))
        again = subject.outputs(live, short)
        error, output = worst_error(again, first)
        if error > 0.0:
            text = f"{output} of {SHORT} places changes by {error:.1e} after a longer call"
            return differs(text, differing_share(again, first))
        return passed(
            f"the same bits 3 times, {counted(len(places), 'dropout')} at 0.5, and before and after"
            " a longer call"
        )


@dataclass(frozen=True)
class LiveDropout(Check):
    """In training each dropout of the spec acts, and nothing else is random."""

    name: str = "live_dropout"

    def run(self, subject: Subject) -> Outcome:
        """Turn on one dropout at a time."""
        live = subject.build_stressed()
        plain = subject.outputs(live, subject.plain)
        places = dropout_places(subject.small)
        live.train()
        _set(live, places, 0.0)
        error, output = worst_error(subject.outputs(live, subject.plain), plain)
        if error > LIMIT:
            text = f"training differs from eval by {error:.1e} in {output} without dropout"
            return failed(text, margin(error, LIMIT))
        for place in places:
            place.set(live, 0.5)
            error, _ = worst_error(subject.outputs(live, subject.plain), plain)
            if error < 1e-6:
                where = f"{place.path}.{place.name}".lstrip(".")
                return failed(f"{where} at 0.5 changes nothing in training")
            place.set(live, 0.0)
        if not places:
            return passed("the spec drops nothing, and training equals eval")
        return passed(f"{counted(len(places), 'dropout')} act in training, one at a time")


@dataclass(frozen=True)
class DropoutPlaces(Check):
    """Each dropout acts on the very values that the spec names."""

    name: str = "dropout_places"

    def run(self, subject: Subject) -> Outcome:
        """p = 1 must give what golden gives without those values; each dropout's input is told."""
        places = dropout_places(subject.small)
        sites = tuple(dict.fromkeys(place.site for place in places))
        if not sites:
            return not_applicable(NONE)
        worst = 0.0
        live = subject.build_stressed().train()
        for site in sites:
            _set(live, places, 0.0)
            _set(live, tuple(place for place in places if place.site is site), 1.0)
            wanted = subject.answer(f"{site.value} dropped", subject.padded, dropped=site)
            error, output = worst_error(subject.outputs(live, subject.padded), wanted)
            if error > LIMIT:
                return failed(
                    f"with all of {site.value} dropped, {output} is off by {error:.1e}"
                    f" (limit {LIMIT:.0e})",
                    margin(error, LIMIT),
                )
            worst = max(worst, error)
        misplaced = _misplaced(subject, places)
        if misplaced is not None:
            return misplaced
        names = ", ".join(site.value for site in sites)
        return passed(f"max relative error {worst:.1e} with all of one site dropped: {names}")


def _misplaced(subject: Subject, places: tuple[DropoutPlace, ...]) -> Outcome | None:
    """A dropout before a map without bias is none behind it, though both give 0 at p = 1."""
    live = subject.build_stressed()
    with traffic(live) as seen:
        subject.outputs(live, subject.padded)
    for place in places:
        path = f"{place.path}.{place.name}".lstrip(".")
        neighbour = _neighbour(subject.small, place)
        if neighbour is None or path not in seen:
            continue
        linear, is_behind = neighbour
        wanted = seen[linear].output if is_behind else seen[linear].given
        if not torch.equal(seen[path].given, wanted):
            text = f"{path} does not read what {linear} {'gives' if is_behind else 'takes'}"
            return differs(text, differing_share({path: seen[path].given}, {path: wanted}))
    return None


def _neighbour(model: Model, place: DropoutPlace) -> tuple[str, bool] | None:
    """The linear map beside a dropout, and whether the dropout reads the map's output."""
    bodies = {path: s.body for stack in model.stacks for path, s in sublayers(model, stack.name)}
    match place.site, bodies.get(place.path):
        case DropoutSite.ATTENTION_OUT, Attention(output=linear) | LatentAttention(output=linear):
            return f"{place.path}.{linear.name}", True
        case DropoutSite.FF_OUT, Mlp(down=linear) | Glu(down=linear):
            return f"{place.path}.{linear.name}", True
        case DropoutSite.FF_HIDDEN, Mlp(down=linear) | Glu(down=linear):
            return f"{place.path}.{linear.name}", False
        case _:
            return None
