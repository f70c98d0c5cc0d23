"""One module a dialect of configs, or a few that share their words. A model_type is known here,
or it is missing with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from specc.importers.configs import (
    bert,
    bloom,
    cohere,
    deepseek,
    exaone4,
    falcon,
    gemma,
    glm,
    gpt2,
    gpt_neox,
    gpt_oss,
    gptj,
    llama,
    llama4,
    mixtral,
    mpt,
    nemotron,
    olmo,
    opt,
    phi,
    stablelm,
    starcoder2,
)
from specc.importers.configs.missing import MISSING as MISSING
from specc.importers.dialect import Dialect

_MODULES = (
    bert,
    bloom,
    cohere,
    deepseek,
    exaone4,
    falcon,
    gemma,
    glm,
    gpt2,
    gpt_neox,
    gpt_oss,
    gptj,
    llama,
    llama4,
    mixtral,
    mpt,
    nemotron,
    olmo,
    opt,
    phi,
    stablelm,
    starcoder2,
)

BY_MODEL_TYPE: Mapping[str, Dialect] = {
    dialect.model_type: dialect for module in _MODULES for dialect in module.DIALECTS
}
