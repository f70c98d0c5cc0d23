"""Small specs that hold what no spec of the repository has, or has only beside much else."""

_SIZES = "specc: 1\nname: m\nvocab_size: 19\nd_model: 24\nn_layers: 3\nmax_seq_len: 40\n"
_GLU = "feed_forward: {kind: glu, activation: silu, d_ff: 14}\n"

RARE: dict[str, str] = {
    "scores": _SIZES
    + _GLU
    + """
style: decoder, pre-norm, rms norm, rope
position: {fraction: 0.5}
block: {residual_multiplier: 0.3, layer_scale: 0.5}
attention:
  {n_heads: 4, n_kv_heads: 2, head_dim: 8, clip_qkv: 0.8, softcap: 1.5, sinks: true, gate: sigmoid,
   window: 4, scale_by_layer: true, qk_norm: {over: per_head, when: after_rotary},
   temperature: {floor: 3, coefficient: 0.5}}
head: {in_multiplier: 0.5, out_multiplier: 3, softcap: 2, bias: true}
""",
    "both_sides": _SIZES
    + _GLU
    + """
style: encoder, pre-norm, layer norm, learned positions
position: {index: ids, offset: 2}
embedding: {width: 10, project: {at: before_norm, bias: true}, norm: true, types: 2, pad_id: 1}
attention: {n_heads: 4, head_dim: 8, window: 2}
layers: {pattern: [first, rest, rest], types: {first: {block: {skip_norms: [attention]}}, rest: {}}}
head: language_model
""",
    "latent": _SIZES
    + _GLU
    + """
style: decoder, rms norm, rope
position:
  theta: 100
  scaling: {kind: yarn, factor: 4, original_max_seq_len: 400, truncate: false}
block: {norm_placement: pre, residual: normed}
attention:
  {kind: latent, n_heads: 3, nope_head_dim: 6, rope_head_dim: 8, value_head_dim: 4, kv_rank: 10,
   q_rank: 12, scale_multiplier: 1.5}
""",
    "dynamic": _SIZES
    + _GLU
    + """
style: decoder, pre-norm, rms norm, rope
position: {scaling: {dynamic: {factor: 3, original_max_seq_len: 6}}}
attention: {n_heads: 4, head_dim: 8, chunk: 3}
embedding: {padded_vocab_size: 24}
layers:
  pattern: [{dense: 1}, {wide: 2}]
  types: {dense: {feed_forward: {d_ff: 9}}, wide: {}}
""",
    "longrope": _SIZES
    + _GLU
    + """
style: decoder, pre-norm, rms norm, rope
position:
  slice: last
  fraction: 0.5
  scaling: {longrope: {short_factors: [1, 1.5], long_factors: [2, 5], original_max_seq_len: 6}}
attention: {n_heads: 4, head_dim: 8}
""",
    "proportional": _SIZES
    + _GLU
    + """
style: decoder, pre-norm, rms norm, rope
position: {fraction: 0.5, scaling: {kind: proportional}}
attention: {n_heads: 4, head_dim: 8}
""",
}
