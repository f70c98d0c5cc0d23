"""Specs that nobody thought of: 200 here, more under `make prove`."""

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from ruamel.yaml import YAML

from specc.verify.random_specs import trial
from specc.verify.random_specs.campaign import run_campaign
from specc.verify.random_specs.strategies import KINDS, specs
from specc.verify.random_specs.trial import Outcome, Verdict, try_spec, try_unformatted
from specc.verify.random_specs.yaml_text import dump

COUNT = 200


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_random_spec_agrees_or_is_refused():
    tally = run_campaign(COUNT, 0)
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert tally.count == COUNT
    assert tally.verdicts[Verdict.AGREES] > 0.75 * COUNT
    assert tally.verdicts[Verdict.REFUSED] > 0.02 * COUNT


def drawn(count):
    found = []

    @seed(1)
    @settings(
        max_examples=count,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=tuple(HealthCheck),
    )
    @given(specs())
    def draw(tree):
        found.append(tree)

    draw()
    return found


def test_the_same_seed_draws_the_same_specs():
    assert drawn(30) == drawn(30)


def test_the_text_of_a_spec_is_the_yaml_of_its_tree():
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 2)
    for tree in drawn(60):
        assert yaml.load(dump(tree)) == tree


def test_every_kind_is_drawn():
    kinds = {tree.get("kind") for tree in drawn(100)}
    assert kinds >= set(KINDS)


def broken_by(monkeypatch, change):
    render = trial.render
    monkeypatch.setattr(trial, "render", lambda model: change(render(model)))


GOOD = """\
specc: 1
name: m
kind: decoder
vocab_size: 7
d_model: 8
n_layers: 2
position: {kind: none}
block: {norm_placement: pre}
attention: {n_heads: 2}
feed_forward: {d_ff: 3, activation: relu}
"""


def test_a_good_spec_agrees():
    assert try_spec(GOOD) == Outcome(Verdict.AGREES)


def test_a_bad_spec_is_refused():
    outcome = try_spec(GOOD.replace("n_heads: 2", "n_heads: 3"))
    assert outcome.verdict is Verdict.REFUSED
    assert "d_model 8 does not divide into 3 heads" in outcome.evidence


def test_no_syntax_is_a_crash(monkeypatch):
    broken_by(monkeypatch, lambda text: text + "\ndef (")
    assert try_unformatted(GOOD).verdict is Verdict.CRASHED


def test_an_error_inside_the_file_is_a_crash(monkeypatch):
    broken_by(monkeypatch, lambda text: text.replace("F.relu", "F.rulu"))
    outcome = try_unformatted(GOOD)
    assert outcome.verdict is Verdict.CRASHED
    assert "rulu" in outcome.evidence


def test_another_activation_disagrees(monkeypatch):
    broken_by(monkeypatch, lambda text: text.replace("F.relu", "F.gelu"))
    assert try_unformatted(GOOD).verdict is Verdict.DISAGREES


def test_a_parameter_too_many_disagrees(monkeypatch):
    broken_by(monkeypatch, lambda text: text.replace("config.d_ff, bias=False", "config.d_ff"))
    outcome = try_unformatted(GOOD)
    assert outcome.verdict is Verdict.DISAGREES
    assert "up_proj.bias: (3,), the spec says None" in outcome.evidence


def test_a_long_line_is_untidy(monkeypatch):
    tidied = trial._tidied
    long = "# " + "x" * 90

    def untidied(text):
        model, code = tidied(text)
        return model, f"{code}{long}\n"

    monkeypatch.setattr(trial, "_tidied", untidied)
    outcome = try_spec(GOOD)
    assert outcome.verdict is Verdict.UNTIDY
    assert "92 columns" in outcome.evidence


def test_a_failure_tells_how_to_try_it_again():
    tally = run_campaign(1, 3, lambda text: Outcome(Verdict.CRASHED, "why"))
    (failure,) = tally.failures
    assert "--spec FILE" in str(failure)
    assert "seed 3000" in str(failure)
    assert failure.text in str(failure)
