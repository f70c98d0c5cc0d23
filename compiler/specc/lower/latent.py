"""Latent attention: queries, keys and values that unfold from low-rank latents."""

from __future__ import annotations

from specc.ir.attention import InverseSqrtSum, LatentAttention, LowRank, Reach, Window
from specc.ir.layers import Cast, DropoutSite, Linear, NormWeight, RmsNorm
from specc.ir.sizes import Constant, Size, Width, width
from specc.lower import init, positions
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.spec import schema


def latent_attention(
    context: Context, node: schema.LatentAttention, layer: schema.Layer, depth: Size
) -> LatentAttention:
    """The attention of one layer; `depth` is its stack's number of layers."""
    return _Builder(context, node, layer).build(depth)


class _Builder:
    def __init__(self, context: Context, node: schema.LatentAttention, layer: schema.Layer) -> None:
        self._context = context
        self._node = node
        self._layer = layer
        self._d_model = width(context.d_model)
        self._n_heads = self._size("n_heads", node.n_heads, "H")
        self._nope = self._size("nope_head_dim", node.nope_head_dim, "N")
        path = ("attention", "rope_head_dim")
        self._rope = context.size("rotary_dim", node.rope_head_dim, "R", path)
        self._value = self._size("value_head_dim", node.value_head_dim, "U")
        self._kv_rank = self._size("kv_rank", node.kv_rank, "L")

    def build(self, depth: Size) -> LatentAttention:
        """The whole part."""
        context, node = self._context, self._node
        heads = self._n_heads
        return LatentAttention(
            causal=context.is_causal,
            cached=context.is_causal and "cache" in context.spec.features,
            d_model=context.d_model,
            n_heads=heads,
            nope_dim=self._nope,
            rotary_dim=self._rope,
            value_dim=self._value,
            kv_rank=self._kv_rank,
            q=self._queries(),
            kv_down=self._linear(
                "kv_down_proj", self._d_model, Width(((self._kv_rank,), (self._rope,))), node.bias.a
            ),
            kv_norm=self._norm("kv_norm", self._kv_rank),
            kv_up=self._linear(
                "kv_up_proj",
                width(self._kv_rank),
                Width(((heads, self._nope), (heads, self._value))),
            ),
            output=Linear(
                name="o_proj",
                inputs=width(heads, self._value),
                outputs=self._d_model,
                bias=node.bias.o,
                init=init.output_matrix(context, depth),
                bias_init=init.output_bias(context),
            ),
            scale=InverseSqrtSum((self._nope, self._rope), self._multiplier()),
            position=positions.rotary_of(context, self._layer.position, self._rope),
            reach=self._reach(),
            dropout=dropout(context, DropoutSite.ATTENTION, "dropout"),
            output_dropout=dropout(context, DropoutSite.ATTENTION_OUT, "output_dropout"),
        )

    def _size(self, name: str, value: int, letter: str) -> Size:
        return self._context.size(name, value, letter, ("attention", name))

    def _linear(self, name: str, inputs: Width, outputs: Width, has_bias: bool = False) -> Linear:
        matrix, bias = init.matrix(self._context), init.bias(self._context)
        return Linear(name, inputs, outputs, has_bias, matrix, bias)

    def _queries(self) -> Linear | LowRank:
        outputs = Width(((self._n_heads, self._nope), (self._n_heads, self._rope)))
        if self._node.q_rank is None:
            return self._linear("q_proj", self._d_model, outputs)
        rank = self._size("q_rank", self._node.q_rank, "Q")
        return LowRank(
            self._linear("q_down_proj", self._d_model, width(rank), self._node.bias.a),
            self._norm("q_norm", rank),
            self._linear("q_up_proj", width(rank), outputs),
        )

    def _norm(self, name: str, rank: Size) -> RmsNorm:
        eps = self._layer.norm.eps if self._node.norm_eps is None else self._node.norm_eps
        path = ("attention", "norm_eps")
        number = self._context.constant("latent_norm_eps", eps, path, share_with="norm_eps")
        return RmsNorm(name, width(rank), number, NormWeight.PLAIN, Cast.BEFORE_WEIGHT, None)

    def _multiplier(self) -> Constant | None:
        value = self._node.scale_multiplier
        if value is None:
            return None
        path = ("attention", "scale_multiplier")
        return self._context.constant("attention_scale_multiplier", value, path)

    def _reach(self) -> Reach | None:
        if self._node.window is None:
            return None
        return Window(self._size("window", self._node.window, "window"))
