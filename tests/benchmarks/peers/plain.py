"""torch.nn: its encoder, for prefill and training."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor, nn

from tests.benchmarks.peers.peer import Peer
from tests.benchmarks.peers.stack import Stack

ORDER = ("vocab_size", "max_seq_len", "d_model", "n_layers", "n_heads", "d_ff")
NAMES = {
    "attention.qkv_proj.": "self_attn.in_proj_",
    "attention.o_proj": "self_attn.out_proj",
    "attention_norm": "norm1",
    "feed_forward_norm": "norm2",
    "feed_forward.up_proj": "linear1",
    "feed_forward.down_proj": "linear2",
}


class Plain(Peer):
    """nn.TransformerEncoder: it has no cache, so it does not decode."""

    name = "torch.nn"
    package = ""

    def build(self) -> nn.Module:
        live = Stack(*self._sizes())
        live.load_state_dict(self._weights())
        return live

    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        found: Tensor = live(tokens)
        return found

    def script(self) -> str:
        return (
            f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            f"from stack import Stack\n"
            f"model = Stack(*{self._sizes()!r}).eval()\n"
            "model(tokens)\n"
        )

    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.shape.number(name) for name in ORDER)

    def _weights(self) -> dict[str, Tensor]:
        """Ours under torch's names."""
        found = {}
        for name, tensor in self.shape.weights.items():
            theirs = f"encoder.{name}" if name.startswith(("layers.", "norm.")) else name
            for old, new in NAMES.items():
                theirs = theirs.replace(old, new)
            found[theirs] = tensor
        return found
