"""What random specs have found: each once crashed, disagreed or had lines that are too long."""

import pytest

from specc.verify import ALL, COMPILING, verify
from specc.verify.random_specs.trial import Verdict, try_spec

REST = """\
d_model: 8
n_layers: 2
block: {norm_placement: pre}
attention: {n_heads: 4}
"""
RELU = "feed_forward: {d_ff: 3, activation: relu}\n"
DECODER = f"specc: 1\nname: m\nkind: decoder\nvocab_size: 7\n{REST}"
ENCODER = DECODER.replace("decoder", "encoder")
FEATURES = f"specc: 1\nname: m\nkind: features\n{REST}{RELU}"

NOW_FINE = {
    "mean_of_features_has_no_mask": FEATURES
    + "head: {kind: classifier, pool: mean, n_classes: 3}\n",
    "docstring_of_a_gate_without_a_name": DECODER
    + "position: none\nfeed_forward: {d_ff: 3, kind: glu, activation: relu_squared}\n",
    "docstring_of_a_table": DECODER
    + RELU
    + "max_seq_len: 13\n"
    + "position: {kind: sinusoidal, layout: concat, frequency: k/(half-1)}\n",
    "gate_beside_a_fused_projection": DECODER.replace(
        "{n_heads: 4}", "{n_heads: 4, projection: fused, gate: sigmoid}"
    )
    + RELU
    + "position: none\n",
    "caps_and_sinks_in_some_layers": DECODER.replace("{n_heads: 4}", "{n_heads: 4, sinks: true}")
    + RELU
    + "position: none\n"
    + "layers: {pattern: [a, b], types: {a: {attention: {softcap: 2}}, b: null}}\n",
    "cache_and_a_growing_theta": DECODER.replace("{n_heads: 4}", "{n_heads: 2}")
    + RELU
    + "max_seq_len: 13\nposition:\n  kind: rope\n"
    + "  scaling: {dynamic: {factor: 2, original_max_seq_len: 4}}\n",
    "attention_weights_of_mixed_masks": ENCODER
    + RELU
    + "position: none\noutputs: [attention_weights]\n"
    + "layers: {pattern: [a, b], types: {a: null, b: {position: alibi}}}\n",
    "message_about_heads_of_long_names": DECODER.replace("n_heads: 4", "n_heads: 4, n_kv_heads: 2")
    + RELU
    + "position: none\nlayers: {pattern: [local, sliding_window], types:"
    + " {local: null, sliding_window: {attention: {n_kv_heads: 1}}}}\n",
    "layer_norms_that_differ_in_their_bias": DECODER
    + RELU
    + "position: none\nnorm: {kind: layer, weight: one_plus_w}\n"
    + "final_norm: {kind: layer, weight: one_plus_w, bias: false}\n",
    "explicit_weights_of_causal_and_other_attention": DECODER.replace(
        "decoder", "encoder_decoder"
    ).replace("n_heads: 4", "n_heads: 4, softcap: 1.0")
    + RELU
    + "position: none\n",
    "message_about_experts_of_long_names": DECODER
    + "position: none\n"
    + "feed_forward: {kind: experts, n_experts: 4, top_k: 2, d_ff: 3, activation: silu}\n"
    + "layers: {pattern: [a, sliding_window], types:"
    + " {a: null, sliding_window: {feed_forward: {n_experts: 2, top_k: 1}}}}\n",
}

NOW_REFUSED = {
    "index ids puts padding at place -1, and the table has no row before place 0": ENCODER
    + RELU
    + "max_seq_len: 13\nposition: {kind: learned, index: ids}\nembedding: {pad_id: 1}\n",
    "kind features reads sets, which have no order, so no windows": FEATURES.replace(
        "n_heads: 4", "n_heads: 4, window: 3"
    ).replace(
        "{norm_placement: pre}",
        "{norm_placement: pre, sublayers: [attention, cross_attention, feed_forward]}",
    )
    + "position: none\n",
    "a temperature counts real tokens": DECODER.replace(
        "{n_heads: 4}", "{n_heads: 4, temperature: {}}"
    )
    + RELU
    + "max_seq_len: 13\nposition: {kind: rope, index: arange}\n",
    "a classifier pools over all tokens": DECODER
    + RELU
    + "position: none\nhead: {kind: classifier, pool: mean, n_classes: 3}\n",
    "layer types of one stack must attend to the same things": DECODER
    + RELU
    + "position: none\nlayers: {pattern: [a, b],"
    + " types: {a: null, b: {block: {sublayers: [feed_forward]}}}}\n",
    "k/(half-1) divides by half of embedding.width less one": ENCODER
    + RELU
    + "max_seq_len: 13\nposition: {kind: sinusoidal, frequency: k/(half-1)}\n"
    + "embedding: {width: 9, project: {at: before_norm}}\n",
}


@pytest.mark.parametrize("text", NOW_FINE.values(), ids=NOW_FINE)
def test_it_is_fine_now(text):
    outcome = try_spec(text)
    assert outcome.verdict is Verdict.AGREES, outcome.evidence


@pytest.mark.parametrize("message", NOW_REFUSED)
def test_it_is_refused_now(message):
    outcome = try_spec(NOW_REFUSED[message])
    assert outcome.verdict is Verdict.REFUSED
    assert message in outcome.evidence


NOW_VERIFIED = {
    "a table as wide as the embeddings, which are projected behind it": ENCODER
    + RELU
    + "max_seq_len: 13\nposition: {kind: sinusoidal}\n"
    + "embedding: {width: 6, project: {at: after_norm}}\n",
    "padding of a source, where the target's first column is read": DECODER.replace(
        "decoder", "encoder_decoder"
    )
    + RELU
    + "max_seq_len: 13\nposition: none\nfeatures: []\n"
    + "head: {kind: classifier, pool: first, n_classes: 3}\n",
}


@pytest.mark.parametrize("text", NOW_VERIFIED.values(), ids=NOW_VERIFIED)
def test_its_checks_pass_now(text, tmp_path):
    spec = tmp_path / "m.yaml"
    spec.write_text(text, encoding="utf-8")
    quick = [check.name for check in ALL if check.name not in COMPILING]
    report = verify(spec, only=quick)
    assert [(check.name, check.evidence) for check in report.failures] == []
