"""The mistakes that people make with each part of the IR, by the name of the part's class."""

from __future__ import annotations

from specc.verify.mutants.attending import ATTENTION, PROJECTIONS, QK_NORMS, SCALES
from specc.verify.mutants.experts import EXPERTS
from specc.verify.mutants.leaves import DROPOUT, INITS, LAYER_NORM, LINEAR, RMS_NORM
from specc.verify.mutants.mutant import Mutant
from specc.verify.mutants.places import ALIBI, LEARNED, ROTARY, SINUSOIDAL
from specc.verify.mutants.reach import LATENT, REACH
from specc.verify.mutants.streams import STREAMS
from specc.verify.mutants.stretching import SCALINGS
from specc.verify.mutants.wiring import BLOCKS, FEED_FORWARDS, HEADS, INPUTS

MUTANTS: dict[str, tuple[Mutant, ...]] = {
    "LayerNorm": LAYER_NORM,
    "RmsNorm": RMS_NORM,
    "Linear": LINEAR,
    "Dropout": DROPOUT,
    **INITS,
    "Sinusoidal": SINUSOIDAL,
    "LearnedPosition": LEARNED,
    "Rotary": ROTARY,
    **SCALINGS,
    "Alibi": ALIBI,
    "Attention": ATTENTION,
    **SCALES,
    **PROJECTIONS,
    **QK_NORMS,
    **REACH,
    **LATENT,
    **FEED_FORWARDS,
    **EXPERTS,
    **BLOCKS,
    **INPUTS,
    **HEADS,
    **STREAMS,
}
