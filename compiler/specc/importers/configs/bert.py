"""BERT: as it is pre-trained, with its masked language model alone, or without a head."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.configs.gpt2 import POSITIONS
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft

_HEADS = ("ForPreTraining", "ForMaskedLM", "Model")


def _bert(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    draft.put("kind", config.code("encoder", "every token sees every other"))
    lacks = "BERT as a decoder is not read"
    config.expect("is_decoder", False, lacks)
    lacks = "relative positions in the scores are not in the vocabulary"
    config.expect("position_embedding_type", "absolute", lacks)
    draft.put("embedding.types", config.count("type_vocab_size", 2))
    draft.put("embedding.norm", config.code(True, "the sum of the rows is normed"))
    draft.put("position.kind", config.code("learned", "a trained table of positions"))
    draft.put("position.offset", config.code(0, "position 0 reads row 0"))
    draft.put("position.index", config.deviates("mask", POSITIONS))
    parts.layer_norm(config, draft, config.number("layer_norm_eps", 1e-12))
    parts.block(config, draft, "post")
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    parts.attention(config, draft, parts.biases(parts.some_bias(config)))
    activation = config.word("hidden_act", parts.ACTIVATIONS, "gelu", "activation")
    d_ff = config.count("intermediate_size")
    parts.plain(config, draft, parts.some_bias(config), activation, d_ff)
    hidden = config.number("hidden_dropout_prob", 0.1)
    parts.dropouts(
        draft,
        embedding=hidden,
        attention=config.number("attention_probs_dropout_prob", 0.1),
        residual=hidden,
    )
    parts.init(config, draft)
    _heads(config, draft, activation.value)
    never_read(
        config,
        "directionality",
        "pooler_fc_size",
        "pooler_num_attention_heads",
        "pooler_num_fc_layers",
        "pooler_size_per_head",
        "pooler_type",
    )


def _heads(config: Config, draft: Draft, activation: str) -> None:
    name = config.architectures(_HEADS, "an encoder, by itself or with its heads of pre-training")
    cited = config.named_class(name, "BertForPreTraining")
    tied = config.flag("tie_word_embeddings", True)
    if name is not None and name.endswith("Model"):
        draft.put("head.kind", cited.but("features"))
        config.ignore({"tie_word_embeddings": "there is no output matrix"})
        return
    masked = {"kind": "masked_language_model", "tied": tied.value, "bias": True}
    heads: list[dict[str, object]] = [{**masked, "activation": activation}]
    if name is None or name.endswith("ForPreTraining"):
        heads.append(
            {
                "kind": "classifier",
                "name": "next_sentence_logits",
                "pool": "first",
                "pooler": "tanh",
                "n_classes": 2,
            }
        )
    draft.put("head", cited.but(heads))


DIALECTS = (Dialect("bert", "bert", "bert", "BERT", _bert),)
