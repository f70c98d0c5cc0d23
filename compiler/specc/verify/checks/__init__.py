"""All checks, cheap ones first: a broken file fails early."""

from __future__ import annotations

import torch

from specc.verify.checks.cache import CacheEqualsFull
from specc.verify.checks.check import Check
from specc.verify.checks.compiling import Compile, Export
from specc.verify.checks.dropout import DropoutPlaces, EvalDeterminism, LiveDropout
from specc.verify.checks.dtypes import Dtypes, NormCasts
from specc.verify.checks.errors import InputErrors
from specc.verify.checks.experts import ExpertChoice, ExpertWork
from specc.verify.checks.generation import Generation
from specc.verify.checks.initial import InitStatistics
from specc.verify.checks.late import LatePositions
from specc.verify.checks.looks import Looking
from specc.verify.checks.materialise import MetaDevice, Ties
from specc.verify.checks.padding import BatchIndependence, FullyMaskedRows, PaddingInvariance
from specc.verify.checks.parity import EveryParameterLearns, ForwardParity, GradientParity
from specc.verify.checks.shapes import ShapeComments
from specc.verify.checks.structure import ConfigDefaults, Imports, ParameterCount, StateDict
from specc.verify.checks.training import Overfit

ALL: tuple[Check, ...] = (
    Imports(),
    ConfigDefaults(),
    ParameterCount(),
    StateDict(),
    ForwardParity(torch.float64, 1e-12),
    ForwardParity(torch.float32, 1e-5),
    GradientParity(torch.float64, 1e-12),
    GradientParity(torch.float32, 1e-5),
    EveryParameterLearns(),
    LatePositions(),
    Looking(),
    PaddingInvariance("left"),
    PaddingInvariance("right"),
    BatchIndependence(),
    FullyMaskedRows(),
    CacheEqualsFull(),
    Generation(),
    EvalDeterminism(),
    LiveDropout(),
    DropoutPlaces(),
    Ties(),
    MetaDevice(),
    InitStatistics(),
    Dtypes(),
    NormCasts(),
    ExpertWork(),
    ExpertChoice(),
    InputErrors(),
    ShapeComments(),
    Overfit(),
    Compile(),
    Export(),
)

COMPILING = ("compile", "export")  # the slow ones

__all__ = ["ALL", "COMPILING", "Check"]
