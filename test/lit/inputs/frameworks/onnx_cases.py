"""Graphs of one ONNX operator, or of a few, with f32 or f64 as their type of real numbers."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Of f64; of f64 where ONNX has numbers in f32 (a sixth, the root of two) or computes in it; of f32. None: onnx's reference does not compute the case.
EXACT, ROUNDED, SINGLE = 1e-12, 1e-6, 1e-6
I64, BOOL = TensorProto.INT64, TensorProto.BOOL
random = np.random.default_rng(5)


class Case:
    def __init__(self, name, nodes, inputs, data=None, opset=17, sizes=None, exact=EXACT):
        self.name, self.nodes, self.inputs, self.data = name, nodes, inputs, data or {}
        self.opset, self.sizes, self.exact = opset, sizes or {}, exact

    def model(self, real):
        """With f32 or f64 as its type of real numbers."""
        def info(name, shape):
            kind = {"i": I64, "b": BOOL}.get(name[0], real)
            return helper.make_tensor_value_info(name, kind, shape)

        tensors = []
        for name, array in self.data.items():
            array = np.asarray(array)
            if array.dtype.kind == "f":
                array = array.astype(np.float32)
                if name != "scales":  # those are f32 in each Resize
                    array = array.astype(helper.tensor_dtype_to_np_dtype(real))
            tensors.append(numpy_helper.from_array(array, name))
        nodes = [as_real(node, real) for node in self.nodes]
        graph = helper.make_graph(nodes, self.name, [info(name, shape) for name, shape in self.inputs.items()],
                                  [onnx.ValueInfoProto(name="y")], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        return inferred


def as_real(node, real):
    """The node, and those that it holds, with this type for f32."""
    node = onnx.NodeProto.FromString(node.SerializeToString())
    for attribute in node.attribute:
        if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
            attribute.i = real
        kind, holds = attribute.type, attribute.type == onnx.AttributeProto.GRAPH
        tensors = [attribute.t] if kind == onnx.AttributeProto.TENSOR else attribute.g.initializer if holds else ()
        for tensor in tensors:
            if tensor.data_type == TensorProto.FLOAT:
                wide = numpy_helper.to_array(tensor).astype(helper.tensor_dtype_to_np_dtype(real))
                tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
        if not holds:
            continue
        inner = [as_real(each, real) for each in attribute.g.node]
        del attribute.g.node[:]
        attribute.g.node.extend(inner)
        for info in [*attribute.g.input, *attribute.g.output]:
            if info.type.tensor_type.elem_type == TensorProto.FLOAT:
                info.type.tensor_type.elem_type = real
    return node


def one(op, inputs, data=None, opset=17, name=None, exact=EXACT, **attributes):
    """A case of one node that reads the inputs and then the data, in this order."""
    names = [*inputs, *(data or {})]
    return Case(name or op, [helper.make_node(op, names, ["y"], name="/" + op, **attributes)], inputs, data, opset, exact=exact)


def rand(*shape):
    return random.uniform(-1, 1, shape)


def whole(*numbers):
    return np.array(numbers, np.int64)
