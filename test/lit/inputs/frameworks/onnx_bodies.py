"""Graphs with nodes that hold graphs, and with nodes of several results."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_cases import BOOL, I64, Case, rand, whole


def body(nodes, inputs, outputs, tensors=None):
    """A graph inside of a node; names that begin with i are whole numbers, with b what is true or false, each a single one."""
    def info(name):
        kind = {"i": I64, "b": BOOL}.get(name[0], TensorProto.FLOAT)
        return helper.make_tensor_value_info(name, kind, None if kind == TensorProto.FLOAT else [])

    data = [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in (tensors or {}).items()]
    return helper.make_graph(nodes, "body", [info(name) for name in inputs], [info(name) for name in outputs], data)


def bodies():
    """Nodes that hold graphs, which are put in their place, and nodes with several results."""
    make = helper.make_node
    double = body([make("Mul", ["x", "w"], ["t"])], [], ["t"])
    shifted = body([make("Add", ["x", "v"], ["e"])], [], ["e"], {"v": rand(3)})
    for name, condition in (("IfTrue", True), ("IfFalse", False)):
        yield Case(name, [make("If", ["c"], ["z"], then_branch=double, else_branch=shifted), make("Relu", ["z"], ["y"])], {"x": [2, 3]},
                   {"c": np.array(condition), "w": rand(3)})
    by_length = [make("Shape", ["x"], ["s"]), make("Gather", ["s", "k"], ["n"]), make("Equal", ["n", "m"], ["b"])]
    for name, length in (("IfShape", 3), ("IfShapeOther", 4)):
        yield Case(name, [*by_length, make("If", ["b"], ["y"], then_branch=double, else_branch=shifted)], {"x": ["batch", 3]},
                   {"k": np.array(1, np.int64), "m": np.array(length, np.int64), "w": rand(3)}, sizes={"x": [2, 3]})
    within = body([make("If", ["c"], ["u"], then_branch=double, else_branch=shifted), make("Add", ["u", "x"], ["f"])], [], ["f"])
    yield Case("IfInside", [make("If", ["d"], ["y"], then_branch=within, else_branch=shifted)], {"x": [2, 3]},
               {"c": np.array(False), "d": np.array(True), "w": rand(3)})
    yield Case("IfAround", [make("If", ["c"], ["y"], then_branch=body([make("Identity", ["x"], ["g"])], [], ["g"]), else_branch=shifted)],
               {"x": [2, 3]}, {"c": np.array(True)})
    step = body([make("Identity", ["b1"], ["b2"]), make("Mul", ["h1", "w"], ["p"]), make("Add", ["p", "v"], ["h2"])], ["i1", "b1", "h1"],
                ["b2", "h2"], {"v": rand(3)})
    # onnx's reference runs no loop without a condition, and does not stack what rounds give.
    three, always = np.array(3, np.int64), np.array(True)
    yield Case("Loop", [make("Loop", ["n", "c", "x"], ["y"], body=step)], {"x": [2, 3]}, {"n": three, "c": always, "w": rand(3)})
    yield Case("LoopOnce", [make("Loop", ["n", "", "x"], ["z"], body=step), make("Tanh", ["z"], ["y"])], {"x": [2, 3]},
               {"n": np.array(1, np.int64), "w": rand(3)}, exact=None)
    gathered = body([make("Identity", ["b1"], ["b2"]), make("Gather", ["w", "i1"], ["r"]), make("Mul", ["h1", "r"], ["h2"]),
                     make("Tanh", ["h2"], ["t"])], ["i1", "b1", "h1"], ["b2", "h2", "t"])
    yield Case("LoopGathers", [make("Loop", ["n", "c", "x"], ["z", "y"], body=gathered)], {"x": [2, 3]},
               {"n": three, "c": always, "w": rand(4, 3)}, exact=None)
    until = body([make("Less", ["i1", "last"], ["b2"]), make("Add", ["h1", "x"], ["h2"])], ["i1", "b1", "h1"], ["b2", "h2"])
    yield Case("LoopEnds", [make("Loop", ["n", "c", "x"], ["y"], body=until)], {"x": [2, 3]},
               {"n": np.array(9, np.int64), "c": always, "last": np.array(2, np.int64)})
    foremost, as_reals = make("TopK", ["x", "k"], ["v", "n"]), {"to": TensorProto.FLOAT}
    for largest in (0, 1):
        along = make("TopK", ["x", "k"], ["v", "n"], axis=1, largest=largest)
        yield Case(f"TopK{largest}", [along, make("Cast", ["n"], ["f"], **as_reals), make("Add", ["v", "f"], ["y"])],
                   {"x": [3, 5, 2]}, {"k": whole(1)})
    yield Case("TopKNumbers", [foremost, make("Cast", ["n"], ["y"], **as_reals)], {"x": [3, 5]}, {"k": whole(1)})
    yield Case("TopKValues", [make("TopK", ["x", "k"], ["y", "n"], sorted=0)], {"x": [3, 5]}, {"k": whole(1)})
    yield Case("MaxPoolUnread", [make("MaxPool", ["x"], ["y", "n"], kernel_shape=[2, 2], strides=[2, 2])], {"x": [2, 3, 4, 6]})
    yield Case("DropoutUnread", [make("Dropout", ["x"], ["z", "m"]), make("Relu", ["z"], ["y"])], {"x": [2, 3]})
