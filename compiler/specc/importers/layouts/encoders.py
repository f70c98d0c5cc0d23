"""How BERT and what is stored like it names its tensors."""

from __future__ import annotations

from specc.importers.layouts.early import layers
from specc.importers.layouts.entries import NO_HEAD, entry
from specc.weights import Copy, Dropped, Layout, Spelling

NOT_TRAINED = "numbers of places, which the file counts itself"

BERT = Layout(
    "bert",
    (
        entry("bert.embeddings.word_embeddings.weight", "embedding.weight"),
        entry("bert.embeddings.position_embeddings.weight", "position_embedding.weight"),
        entry("bert.embeddings.token_type_embeddings.weight", "type_embedding.weight"),
        entry("bert.embeddings.LayerNorm.{kind}", "embedding_norm.{kind}"),
        *layers(
            "bert.encoder.layer",
            {
                "attention.self.query": "attention.q_proj",
                "attention.self.key": "attention.k_proj",
                "attention.self.value": "attention.v_proj",
                "attention.output.dense": "attention.o_proj",
                "attention.output.LayerNorm": "attention_norm",
                "intermediate.dense": "feed_forward.up_proj",
                "output.dense": "feed_forward.down_proj",
                "output.LayerNorm": "feed_forward_norm",
            },
        ),
        entry("bert.pooler.dense.{kind}", "pooler.{kind}"),
        entry("cls.predictions.transform.dense.{kind}", "mlm_dense.{kind}"),
        entry("cls.predictions.transform.LayerNorm.{kind}", "mlm_norm.{kind}"),
        entry("cls.predictions.bias", "mlm_bias"),
        entry("cls.predictions.decoder.{kind}", "mlm_head.{kind}"),
        entry("cls.seq_relationship.{kind}", "next_sentence_logits.{kind}"),
        entry("classifier.{kind}", "classifier.{kind}"),
    ),
    copies=(
        Copy("cls.predictions.decoder.weight", "embedding.weight"),
        Copy("cls.predictions.decoder.bias", "mlm_bias"),
    ),
    dropped=(
        Dropped("bert.embeddings.position_ids", NOT_TRAINED),
        Dropped("bert.embeddings.token_type_ids", NOT_TRAINED),
        Dropped("bert.pooler.dense.{kind}", NO_HEAD),
        Dropped("cls.{any}", NO_HEAD),
        Dropped("classifier.{kind}", NO_HEAD),
    ),
    spellings=(
        Spelling("LayerNorm.gamma", "LayerNorm.weight"),
        Spelling("LayerNorm.beta", "LayerNorm.bias"),
    ),
    prefixes=("bert.",),
    bare="bert.",
)
