"""Families that are known and cannot be imported, each with the part that is missing."""

_RELATIVE = "position biases in buckets of distance are not in the vocabulary"
_TWO_STACKS = "its encoder and decoder have no importer yet"
_PATCHES = "patches of images are not in the vocabulary"
_NO_IMPORTER = "the vocabulary may do, but no importer reads its keys yet"
_TOWERS = "two towers, of text and of images, are not in the vocabulary"
_TEXT_ONLY = "its image tower is not in the vocabulary; save its text_config as a config of its own"

MISSING = {
    "qwen3_next": "gated DeltaNet layers, which are a recurrence, are not in the vocabulary",
    "t5": _RELATIVE,
    "mt5": _RELATIVE,
    "umt5": _RELATIVE,
    "bart": f"{_TWO_STACKS}: a bias on the logits that is no parameter is not in the vocabulary",
    "mbart": f"{_TWO_STACKS}: a bias on the logits that is no parameter is not in the vocabulary",
    "marian": f"{_TWO_STACKS}: a bias on the logits that is no parameter is not in the vocabulary",
    "pegasus": f"{_TWO_STACKS}: a bias on the logits that is no parameter is not in the vocabulary",
    "whisper": "frames of sound and the convolutions over them are not in the vocabulary",
    "roberta": _NO_IMPORTER,
    "xlm-roberta": _NO_IMPORTER,
    "distilbert": _NO_IMPORTER,
    "electra": "a head that tells replaced tokens is not in the vocabulary",
    "albert": "layers that share their weights are not in the vocabulary",
    "modernbert": _NO_IMPORTER,
    "nomic_bert": _NO_IMPORTER,
    "deberta-v2": "scores between contents and relative positions are not in the vocabulary",
    "esm": "rescaling by the share of masked tokens (token_dropout) is not in the vocabulary",
    "vit": _PATCHES,
    "deit": _PATCHES,
    "beit": _PATCHES,
    "dinov2": _PATCHES,
    "swin": f"{_PATCHES}, and neither are shifted windows over them",
    "clip": _TOWERS,
    "siglip": _TOWERS,
    "perceiver": "latents that read their input once are not in the vocabulary",
    "gemma3": _TEXT_ONLY,
    "llama4": _TEXT_ONLY,
}
