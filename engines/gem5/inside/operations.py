# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes of operations, by the groups that a pipeline states latencies of.

gem5 names some 70 classes of operations. A pipeline states few latencies, so classes are put into
groups; a class that no group has would have no unit, and a test compares with gem5's list.
"""

from __future__ import annotations

#: Latency's name in a pipeline -> gem5's classes of operations.
FLOAT_GROUPS = {
    "fp_add": (
        *("FloatAdd", "SimdFloatAdd", "SimdFloatAlu", "SimdFloatMisc"),
        *("SimdFloatReduceAdd", "SimdFloatExt"),
    ),
    "fp_compare": ("FloatCmp", "SimdFloatCmp", "SimdFloatReduceCmp"),
    "fp_convert": ("FloatCvt", "SimdFloatCvt"),
    # FMOV of any kind; the one between register files is the long one and the common one.
    "fp_transfer": ("FloatMisc",),
    "fp_multiply": ("FloatMult", "SimdFloatMult"),
    "fp_multiply_add": ("FloatMultAcc", "SimdFloatMultAcc", "SimdFloatMatMultAcc"),
    "fp_divide": ("FloatDiv", "SimdFloatDiv", "SimdDiv"),
    "fp_sqrt": ("FloatSqrt", "SimdFloatSqrt", "SimdSqrt"),
    "simd": (
        *("SimdAdd", "SimdAddAcc", "SimdAlu", "SimdCmp", "SimdCvt", "SimdMisc", "SimdMult"),
        *("SimdMultAcc", "SimdMatMultAcc", "SimdShift", "SimdShiftAcc", "SimdReduceAdd"),
        *("SimdReduceAlu", "SimdReduceCmp", "SimdAes", "SimdAesMix", "SimdSha1Hash"),
        *("SimdSha1Hash2", "SimdSha256Hash", "SimdSha256Hash2", "SimdShaSigma2"),
        *("SimdShaSigma3", "SimdPredAlu", "Matrix", "MatrixMov", "MatrixOP", "SimdExt"),
        "SimdConfig",
    ),
}
LOADS = (
    *("MemRead", "FloatMemRead", "SimdUnitStrideLoad", "SimdUnitStrideMaskLoad"),
    *("SimdStridedLoad", "SimdIndexedLoad", "SimdWholeRegisterLoad"),
    *("SimdUnitStrideFaultOnlyFirstLoad", "SimdUnitStrideSegmentedLoad"),
)
STORES = (
    *("MemWrite", "FloatMemWrite", "SimdUnitStrideStore", "SimdUnitStrideMaskStore"),
    *("SimdStridedStore", "SimdIndexedStore", "SimdWholeRegisterStore"),
    "SimdUnitStrideSegmentedStore",
)
SYSTEM = ("IprAccess", "InstPrefetch")
#: Every class but No_OpClass, which needs no unit.
ALL = (
    *("IntAlu", "IntMult", "IntDiv", *SYSTEM, *LOADS, *STORES),
    *(name for names in FLOAT_GROUPS.values() for name in names),
)
