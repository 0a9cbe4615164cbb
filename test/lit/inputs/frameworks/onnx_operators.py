#!/usr/bin/env python3
"""Holds ONNX operators as programs against onnx.reference and ONNX Runtime: onnx_operators.py TBEMC FOLDER [NAME].

Each case is a graph of one operator, or a few, that is imported and infers in f64 on random inputs. The same graph with f64 for f32 is
evaluated by onnx's own reference in NumPy, and the graph itself in f32 by ONNX Runtime, which is another program. Numbers of attributes are
ones that f32 has exactly. Prints a line a case: the largest difference from each, by the largest number of the output.
"""
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_bodies import bodies
from onnx_cases import EXACT, I64, ROUNDED, SINGLE, Case, one, rand, random, whole

def of_whole(op, number, name):
    """Of whole numbers from -7 to 7, and a number."""
    return Case(name, [helper.make_node("Mul", ["x", "8"], ["z"]), helper.make_node("Cast", ["z"], ["n"], to=I64),
                       helper.make_node(op, ["n", "w"], ["m"]), helper.make_node("Cast", ["m"], ["y"], to=TensorProto.FLOAT)],
                {"x": [3, 4]}, {"8": np.array(8.0), "w": whole(number)})


def elements():
    for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Abs", "Sign", "Floor", "Ceil", "Sin", "Cos", "Neg", "Reciprocal", "Softplus"):
        yield one(op, {"x": [2, 3, 4]})
    for op in ("HardSwish", "Selu"):
        yield one(op, {"x": [2, 3, 4]}, exact=ROUNDED)
    yield one("Mish", {"x": [2, 3]}, opset=18)
    for op in ("Sqrt", "Log"):
        yield Case(op, [helper.make_node("Exp", ["x"], ["z"]), helper.make_node(op, ["z"], ["y"])], {"x": [2, 3]})
    yield one("HardSigmoid", {"x": [4, 5]}, alpha=0.25, beta=0.375)
    yield one("HardSigmoid", {"x": [4, 5]}, name="HardSigmoidSixth", exact=ROUNDED, alpha=1 / 6)
    yield one("Elu", {"x": [2, 3]}, alpha=0.5)
    yield one("LeakyRelu", {"x": [2, 3]}, alpha=0.125)
    yield one("PRelu", {"x": [2, 3, 4, 4]}, {"w": rand(3, 1, 1)})
    yield one("PRelu", {"x": [2, 3]}, {"w": rand(1)}, name="PReluOne", exact=ROUNDED)
    for op in ("Add", "Sub", "Mul", "Div"):
        yield one(op, {"x": [2, 3, 4], "z": [3, 1]}, name=op + "Broadcast")
        yield one(op, {"z": [3, 1], "x": [2, 3, 4]}, name=op + "BroadcastLeft")
        yield one(op, {"x": [2, 3]}, {"w": np.array(0.375)}, name=op + "Number")
        yield Case(op + "NumberLeft", [helper.make_node(op, ["w", "x"], ["y"])], {"x": [2, 3]}, {"w": np.array([0.375])})
        yield one(op, {"x": [3]}, {"w": np.array([[[0.375]]])}, name=op + "MoreAxes")
        yield one(op, {"x": [2, 3]}, {"w": rand(3)}, name=op + "Row")
    for op in ("Add", "Sub", "Mul"):
        yield of_whole(op, 4, op + "Whole")
    for op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        yield one(op, {"x": [2, 3], "z": [2, 3]})
        yield one(op, {"x": [2, 3]}, {"w": np.array(0.25)}, name=op + "Number")
        yield Case(op + "NumberLeft", [helper.make_node(op, ["w", "x"], ["y"])], {"x": [2, 3]}, {"w": np.array(0.25)})
    yield of_whole("Equal", 1, "Equal")
    yield of_whole("Less", 1, "LessWhole")
    yield Case("Logic", [helper.make_node("Less", ["x", "z"], ["a"]), helper.make_node("Less", ["x", "w"], ["b"]),
                         helper.make_node("And", ["a", "b"], ["c"]), helper.make_node("Not", ["b"], ["d"]),
                         helper.make_node("Or", ["c", "d"], ["e"]), helper.make_node("Where", ["e", "x", "w"], ["y"])],
               {"x": [3, 4], "z": [3, 1]}, {"w": np.array(0.125)})
    yield Case("WhereLow", [helper.make_node("Less", ["x", "z"], ["a"]), helper.make_node("Where", ["a", "x", "w"], ["s"]),
                            helper.make_node("Softmax", ["s"], ["y"])], {"x": [3, 9], "z": [3, 1]}, {"w": np.array(-np.inf)})
    yield one("Max", {"x": [2, 3], "z": [3], "u": [2, 1]})
    yield one("Min", {"x": [2, 3], "z": [3]})
    yield one("Sum", {"x": [2, 3], "z": [3], "u": [2, 1]})
    for exponent in (2.0, 3.0, 0.5):
        nodes = [helper.make_node("Exp", ["x"], ["z"]), helper.make_node("Pow", ["z", "w"], ["y"])]
        yield Case(f"Pow{exponent}", nodes, {"x": [2, 3]}, {"w": np.array(exponent)})
    yield one("Pow", {"x": [2, 3]}, {"w": np.array(3.0)}, name="PowNegative")
    yield one("Clip", {"x": [4, 5]}, {"w": np.array(-0.25), "v": np.array(0.5)})
    yield one("Clip", {"x": [4, 5]}, {"w": np.array(0.25)}, name="ClipLow")
    yield Case("ClipHigh", [helper.make_node("Clip", ["x", "", "v"], ["y"])], {"x": [4, 5]}, {"v": np.array(0.5)})
    yield one("Clip", {"x": [4, 5]}, {"w": np.array(0.0), "v": np.array(6.0)}, name="Clip6")
    for axis in (-1, 0, 1):
        yield one("Softmax", {"x": [2, 3, 4]}, name=f"Softmax{axis}", axis=axis)
    yield one("LogSoftmax", {"x": [2, 3, 4]}, axis=1)
    yield one("Gelu", {"x": [2, 3]}, opset=20, exact=ROUNDED)
    yield one("Gelu", {"x": [2, 3]}, opset=20, exact=ROUNDED, name="GeluTanh", approximate="tanh")
    half, root = np.array(0.5), np.array(np.sqrt(2))
    for name, order in (("GeluParts", ["x", "a"]), ("GeluPartsTurned", ["a", "x"])):
        yield Case(name, [helper.make_node("Div", ["x", "r"], ["s"]), helper.make_node("Erf", ["s"], ["e"]),
                          helper.make_node("Constant", [], ["1"], value=numpy_helper.from_array(np.float32(1))),
                          helper.make_node("Add", ["e", "1"], ["a"]), helper.make_node("Mul", order, ["m"]),
                          helper.make_node("Mul", ["m", "h"], ["y"])], {"x": [2, 3]}, {"h": half, "r": root}, exact=ROUNDED)
    yield Case("CastWhole", [helper.make_node("Mul", ["x", "w"], ["z"]), helper.make_node("Cast", ["z"], ["n"], to=I64),
                             helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT)], {"x": [4, 5]}, {"w": np.array(8.0)})
    yield Case("CastBool", [helper.make_node("Less", ["x", "z"], ["b"]), helper.make_node("Cast", ["b"], ["y"], to=TensorProto.FLOAT)],
               {"x": [4, 5], "z": [4, 5]})


def layers():
    image = {"x": [2, 4, 7, 6]}
    yield one("Conv", image, {"w": rand(6, 4, 3, 3), "b": rand(6)}, pads=[1, 1, 1, 1])
    yield one("Conv", image, {"w": rand(6, 4, 3, 2)}, name="ConvUneven", pads=[0, 1, 2, 0], strides=[2, 1])
    yield one("Conv", image, {"w": rand(6, 2, 3, 3), "b": rand(6)}, name="ConvGroups", group=2, dilations=[2, 1], pads=[2, 1, 2, 1])
    yield one("Conv", image, {"w": rand(4, 1, 3, 3)}, name="ConvDepthwise", group=4)
    for side in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        yield one("Conv", image, {"w": rand(5, 4, 3, 3)}, name="Conv" + side, auto_pad=side, strides=[2, 2])
    yield one("Conv", {"x": [2, 3, 9]}, {"w": rand(5, 3, 3), "b": rand(5)}, name="Conv1d", pads=[1, 1], strides=[2])
    yield one("Conv", {"x": [2, 3, 5, 6, 4]}, {"w": rand(5, 3, 3, 3, 3), "b": rand(5)}, name="Conv3d", pads=[1, 1, 1, 1, 1, 1])
    yield one("ConvTranspose", image, {"w": rand(4, 3, 3, 3), "b": rand(3)}, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    yield one("ConvTranspose", image, {"w": rand(4, 3, 2, 2)}, name="ConvTransposeGroups", exact=None, strides=[2, 2], group=2)
    statistics = {"w": rand(4), "b": rand(4), "m": rand(4), "v": rand(4) ** 2 + 0.5}
    yield one("BatchNormalization", image, statistics, epsilon=0.125)
    yield one("BatchNormalization", image, statistics, opset=13, name="BatchNormalization13", exact=None)
    same = ["w", "b", "b", "w"]  # as exporters write models that were not trained
    yield Case("BatchNormalizationSame", [helper.make_node("BatchNormalization", ["x", *same], ["z"], name="/first/BN", epsilon=0.125),
                                          helper.make_node("BatchNormalization", ["z", *same], ["y"], name="/second/BN", epsilon=0.125)],
               image, {"w": rand(4) ** 2 + 0.5, "b": rand(4)})
    yield one("LayerNormalization", {"x": [2, 3, 8]}, {"w": rand(8), "b": rand(8)}, epsilon=0.125)
    yield one("LayerNormalization", {"x": [2, 3, 8]}, {"w": rand(3, 8)}, name="LayerNormalization1", axis=1)
    yield one("InstanceNormalization", image, {"w": rand(4), "b": rand(4)}, epsilon=0.125)
    yield one("GroupNormalization", image, {"w": rand(4), "b": rand(4)}, opset=21, exact=ROUNDED, num_groups=2, epsilon=0.125)
    yield one("RMSNormalization", {"x": [2, 3, 8]}, {"w": rand(8)}, opset=23, epsilon=0.125)
    for left in (0, 1):
        for right in (0, 1):
            data = {"w": rand(*((5, 4) if right else (4, 5))), "b": rand(5)}
            shape = {"x": [4, 3] if left else [3, 4]}
            yield one("Gemm", shape, data, name=f"Gemm{left}{right}", transA=left, transB=right)
            yield one("Gemm", shape, data, name=f"GemmScaled{left}{right}", transA=left, transB=right, alpha=0.5, beta=0.25)
    yield one("Gemm", {"x": [3, 4]}, {"w": rand(4, 5), "b": rand(3, 1)}, name="GemmColumn")
    yield one("Gemm", {"x": [3, 4]}, {"w": rand(4, 5), "b": np.array(0.25)}, name="GemmNumber")
    yield one("Gemm", {"x": [3, 4]}, {"w": rand(4, 5)}, name="GemmNone")
    yield one("Gemm", {"x": [3, 4], "z": [4, 5]}, name="GemmTwo")
    yield one("MatMul", {"x": [2, 3, 4], "z": [2, 4, 5]})
    yield one("MatMul", {"x": [2, 1, 3, 4], "z": [5, 4, 2]}, name="MatMulBroadcast")
    yield one("MatMul", {"x": [2, 3, 4]}, {"w": rand(4, 5)}, name="MatMulWeight")
    for name, order in (("MatMulBias", ["m", "b"]), ("MatMulBiasTurned", ["b", "m"])):
        yield Case(name, [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", order, ["y"])],
                   {"x": [2, 3, 4]}, {"w": rand(4, 5), "b": rand(5)})
    yield Case("MatMulTwice", [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("MatMul", ["m", "w"], ["y"])],
               {"x": [2, 4]}, {"w": rand(4, 4)})
    yield Case("Dense", [helper.make_node("Gemm", ["x", "W1", "B1"], ["m"], transB=1), helper.make_node("Relu", ["m"], ["r"]),
                         helper.make_node("Gemm", ["r", "W2", "B2"], ["y"])],
               {"x": [2, 4]}, {"W1": rand(6, 4), "B1": rand(6), "W2": rand(6, 3), "B2": rand(3)})


def windows():
    image = {"x": [2, 3, 8, 7]}
    for op in ("MaxPool", "AveragePool"):
        yield one(op, image, kernel_shape=[2, 2], strides=[2, 2])
        yield one(op, image, name=op + "Pads", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        yield one(op, image, name=op + "Ceil", kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)
        yield one(op, image, name=op + "CeilPads", kernel_shape=[3, 3], strides=[2, 3], pads=[1, 1, 1, 1], ceil_mode=1, opset=19)
        yield one(op, image, name=op + "Step", kernel_shape=[2, 3])
        yield one(op, {"x": [2, 3, 9]}, name=op + "1d", kernel_shape=[3], strides=[2], pads=[1, 1])
    yield one("MaxPool", image, name="MaxPoolSame", kernel_shape=[3, 3], auto_pad="SAME_UPPER")
    yield one("AveragePool", image, name="AveragePoolCounts", kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    yield one("AveragePool", image, name="AveragePoolUneven", kernel_shape=[3, 3], pads=[0, 1, 1, 0], count_include_pad=1)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield one(op, image)
        yield one(op, {"x": [2, 3, 5]}, name=op + "1d", exact=None if op == "GlobalMaxPool" else EXACT)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"):
        for axes, keeps in (([1], 1), ([-1, 0], 0), ([2, 1], 1)):
            name = f"{op}{axes}{keeps}"
            yield one(op, {"x": [2, 3, 4]}, {"a": whole(*axes)}, opset=18, name=name, keepdims=keeps)
        if op != "ReduceSum":
            yield one(op, {"x": [2, 3, 4]}, opset=13, name=op + "13", axes=[1, -1], keepdims=0)
    yield one("ReduceSum", {"x": [2, 3, 4]}, opset=13, name="ReduceSumAll", keepdims=0)
    yield one("ReduceMean", {"x": [2, 3, 4]}, opset=18, name="ReduceMeanNoop", noop_with_empty_axes=1)
    for op in ("ArgMax", "ArgMin"):
        yield one(op, {"x": [3, 4, 5]}, axis=-1, keepdims=0)
        yield one(op, {"x": [3, 4, 5]}, name=op + "Keeps", axis=1)


def moves():
    cube = {"x": [2, 3, 4]}
    for name, shape in (("Zero", (0, -1)), ("Flat", (-1,)), ("Apart", (2, 3, 2, 2)), ("ZeroTwice", (0, 0, 2, -1))):
        yield one("Reshape", cube, {"s": whole(*shape)}, name="Reshape" + name)
    yield one("Reshape", cube, {"s": whole(4, 6)}, name="ReshapeAllowZero", allowzero=1)
    for axis in (0, 1, 2, 3, -1, -3):
        yield one("Flatten", cube, name=f"Flatten{axis}", axis=axis)
    yield one("Squeeze", {"x": [1, 3, 1, 4]}, {"a": whole(0, -2)})
    yield one("Squeeze", {"x": [1, 3, 1, 4]}, name="SqueezeAll")
    yield one("Unsqueeze", cube, {"a": whole(-1, 1)})
    yield one("Unsqueeze", cube, {"a": whole(4, 0)}, name="UnsqueezeOrder")
    yield one("Transpose", cube)
    yield one("Transpose", cube, name="TransposeLast", perm=[0, 2, 1])
    yield one("Transpose", cube, name="TransposeTurn", perm=[2, 0, 1])
    yield one("Concat", {"x": [2, 3], "z": [2, 5]}, axis=-1)
    yield one("Concat", {"x": [2, 3]}, {"w": rand(4, 3)}, name="ConcatWeight", axis=0)
    for name, data, opset, more in (("Split", {"s": whole(1, 3, 2)}, 13, {}), ("SplitEven", {}, 13, {}),
                                    ("SplitCount", {}, 18, {"num_outputs": 3})):
        length = 7 if more else 6
        yield Case(name, [helper.make_node("Split", ["x", *data], ["a", "b", "c"], axis=1, **more),
                          helper.make_node("Concat", ["c", "a", "b"], ["y"], axis=-1)], {"x": [2, length]}, data, opset)
    top = np.iinfo(np.int64).max
    for name, starts, ends, axes, steps in (("", [1], [3], [1], [1]), ("End", [-3], [top], [2], [1]), ("Two", [0, 1], [1, -1], [0, 2], [1, 1]),
                                            ("Step", [0], [top], [2], [2]), ("Clamped", [-100], [100], [1], [1]), ("Last", [1], [-1], [-1], [1])):
        yield one("Slice", cube, {"s": whole(*starts), "e": whole(*ends), "a": whole(*axes), "p": whole(*steps)}, name="Slice" + name)
    yield one("Gather", cube, {"i": whole(2, 0)}, name="GatherList", axis=1)
    yield one("Gather", cube, {"i": np.array(-1, np.int64)}, name="GatherOne", axis=2)
    yield one("Gather", cube, {"i": np.array([[0, 2], [1, 1]], np.int64)}, name="GatherTable", axis=1)
    yield Case("GatherWeight", [helper.make_node("Gather", ["w", "i"], ["y"])], {"i": [2, 5]}, {"w": rand(7, 3)})
    yield one("GatherElements", cube, {"n": random.integers(0, 3, (2, 2, 4))}, axis=1)
    yield one("Expand", {"x": [3, 1]}, {"s": whole(2, 1, 4)})
    yield one("Tile", {"x": [2, 3]}, {"s": whole(2, 3)})
    yield one("Trilu", {"x": [2, 4, 5]}, upper=0)
    yield one("Trilu", {"x": [2, 4, 5]}, {"k": np.array(1, np.int64)}, name="TriluUpper")
    yield one("CumSum", cube, {"a": np.array(1, np.int64)})
    for mode in ("constant", "reflect", "edge"):
        yield one("Pad", {"x": [1, 2, 5, 6]}, {"p": whole(0, 0, 1, 2, 0, 0, 2, 1)}, name="Pad" + mode, mode=mode)
    yield one("Pad", {"x": [2, 5, 6]}, {"p": whole(1, 2), "v": np.array(0.0), "a": whole(1)}, opset=18, name="PadAxes")
    image = {"x": [1, 2, 4, 6]}

    def resize(name, data, **attributes):
        inputs = ["x", "", *(["scales"] if "scales" in data else ["", "n"])]
        return Case("Resize" + name, [helper.make_node("Resize", inputs, ["y"], **attributes)], image, data)

    scales, sizes = {"scales": np.array([1, 1, 2.0, 2.0])}, {"n": whole(1, 2, 7, 9)}
    floor = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    yield resize("Nearest", scales, **floor)
    yield resize("NearestSizes", sizes, **floor)
    for where in ("half_pixel", "align_corners", "pytorch_half_pixel"):
        yield resize("Linear" + where, sizes, mode="linear", coordinate_transformation_mode=where)
    yield resize("LinearScales", scales, mode="linear", coordinate_transformation_mode="half_pixel")
    yield one("Dropout", cube)
    yield Case("Identity", [helper.make_node("Identity", ["w"], ["v"]), helper.make_node("Add", ["x", "v"], ["z"]),
                            helper.make_node("Mul", ["z", "w"], ["y"])], {"x": [2, 3]}, {"w": rand(3)})


def shapes():
    def value(name, array):
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))

    yield Case("ShapeChain", [helper.make_node("Shape", ["x"], ["s"]), value("0", np.int64(0)), value("2", np.int64(2)),
                              helper.make_node("Gather", ["s", "0"], ["n"]), helper.make_node("Gather", ["s", "2"], ["d"]),
                              value("half", np.int64(2)), helper.make_node("Div", ["d", "half"], ["h"]), value("a", whole(0)),
                              helper.make_node("Unsqueeze", ["n", "a"], ["n1"]), helper.make_node("Unsqueeze", ["h", "a"], ["h1"]),
                              value("rest", whole(-1)), helper.make_node("Concat", ["n1", "rest", "h1"], ["t"], axis=0),
                              helper.make_node("Reshape", ["x", "t"], ["y"])], {"x": ["batch", 3, 4]}, sizes={"x": [5, 3, 4]})
    yield Case("ShapeParts", [helper.make_node("Shape", ["x"], ["s"], start=1), value("f", np.array([2.0], np.float32)),
                              helper.make_node("ConstantOfShape", ["s"], ["c"], value=numpy_helper.from_array(np.array([2], np.float32))),
                              helper.make_node("Add", ["x", "c"], ["y"])], {"x": ["batch", 3, 4]}, sizes={"x": [5, 3, 4]})
    yield Case("ExpandWhere", [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Shape", ["s"], ["r"]), value("m", whole(-1, 1)),
                               helper.make_node("ConstantOfShape", ["r"], ["o"], value=numpy_helper.from_array(whole(1))),
                               helper.make_node("Equal", ["m", "m1"], ["q"]), helper.make_node("Where", ["q", "s", "o"], ["e"]),
                               helper.make_node("Expand", ["w", "e"], ["z"]), helper.make_node("Add", ["x", "z"], ["y"])],
               {"x": ["batch", 4]}, {"m1": whole(-1), "w": rand(1, 4)}, sizes={"x": [3, 4]})
    yield Case("Places", [helper.make_node("Shape", ["x"], ["s"]), value("1", np.int64(1)), value("0", np.int64(0)),
                          helper.make_node("Gather", ["s", "1"], ["n"]), helper.make_node("Range", ["0", "n", "1"], ["r"]),
                          helper.make_node("Gather", ["w", "r"], ["p"]), helper.make_node("Add", ["x", "p"], ["y"])],
               {"x": ["batch", "length", 4]}, {"w": rand(9, 4)}, sizes={"x": [2, 5, 4]})
    yield Case("Mod", [helper.make_node("Shape", ["x"], ["s"]), value("1", np.int64(1)), value("3", np.int64(3)),
                       helper.make_node("Gather", ["s", "1"], ["n"]), helper.make_node("Mod", ["n", "3"], ["m"]),
                       helper.make_node("Cast", ["m"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["x", "f"], ["y"])], {"x": [2, 5]})
    yield Case("Scale", [helper.make_node("Shape", ["x"], ["s"]), value("1", np.int64(1)), helper.make_node("Gather", ["s", "1"], ["n"]),
                         helper.make_node("Cast", ["n"], ["f"], to=TensorProto.FLOAT), helper.make_node("Sqrt", ["f"], ["q"]),
                         helper.make_node("Div", ["x", "q"], ["y"])], {"x": [2, 4]})
    for name, start, end in (("SliceOpenEnd", -2, 1 << 62), ("SliceOpenFront", 0, 2), ("SliceOpenBoth", -3, -1)):
        yield Case(name, [helper.make_node("Slice", ["x", "s", "e", "a"], ["y"])], {"x": [2, "length", 3]},
                   {"s": whole(start), "e": whole(end), "a": whole(1)}, sizes={"x": [2, 6, 3]})
    yield Case("GatherOpenLast", [helper.make_node("Gather", ["x", "n"], ["y"], axis=1)], {"x": [2, "length", 3]},
               {"n": np.array(-1, np.int64)}, sizes={"x": [2, 6, 3]})


def far(ours, theirs):
    theirs = np.asarray(theirs, np.float64)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    most = max(1e-30, float(np.abs(np.nan_to_num(theirs, posinf=0, neginf=0)).max(initial=0)))
    return float(np.abs(ours - theirs).max(initial=0)) / most


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}{done.stdout}"
    return done


def check(tbemc, folder, case):
    model = case.model(TensorProto.FLOAT)
    path, program, saved = folder / f"{case.name}.onnx", folder / f"{case.name}.tbem", folder / f"{case.name}.npz"
    path.write_bytes(model.SerializeToString())
    sizes = {name: case.sizes.get(name, shape) for name, shape in case.inputs.items()}
    given = [word for name, shape in sizes.items() for word in ("--input", f"{name}={','.join(map(str, shape))}")]
    run(tbemc, "import", str(path), *given, "--strict", "--name", "net", "-o", str(program), "--quiet")
    if case.sizes:  # an open size is one for other numbers, too
        sizes = {name: [size + (3 if isinstance(case.inputs[name][d], str) else 0) for d, size in enumerate(shape)] for name, shape in sizes.items()}
    given = [word for name, shape in sizes.items() for word in ("--input", f"{name}={','.join(map(str, shape))}")]
    weights = [] if not case.data or not (folder / f"{case.name}.safetensors").stat().st_size > 16 else \
        ["--load", str(folder / f"{case.name}.safetensors"), "--names", str(folder / f"{case.name}.names")]
    run(tbemc, "step", str(program), "-e", "net()", *given, *weights, "--on", "ref", "--dtype", "f64", "--save", str(saved), "--quiet")
    arrays = dict(np.load(saved))
    inputs = {name: arrays[f"input/{name}"] for name in case.inputs}
    ours = arrays["output"].astype(np.float64)
    exact, = ReferenceEvaluator(case.model(TensorProto.DOUBLE)).run(None, inputs) if case.exact else [ours]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    single, = session.run(None, {name: array.astype(np.float32) if array.dtype.kind == "f" else array for name, array in inputs.items()})
    return far(ours, exact), far(ours, single)


def main():
    tbemc, folder, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    onnxruntime.set_default_logger_severity(3)
    wrong = 0
    for family in (elements, layers, windows, moves, bodies, shapes):
        for case in family():
            if wanted and case.name not in wanted:
                continue
            try:
                exact, single = check(tbemc, folder, case)
                good = exact <= (case.exact or EXACT) and single <= SINGLE
                print(f"{case.name}: {exact:.1e} {single:.1e}{'' if good else ' DIFFERS'}", flush=True)
            except Exception as failure:  # told with the others
                good = False
                print(f"{case.name}: FAILS {type(failure).__name__}: {failure}", flush=True)
            wrong += not good
    print(f"{wrong} wrong")
    sys.exit(wrong != 0)


main()
