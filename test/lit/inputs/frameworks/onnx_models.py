#!/usr/bin/env python3
"""Models as ONNX files, files that are wrong, and what ONNX Runtime makes of the models, in NAME.npz: onnx_models.py FOLDER."""
import pathlib
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


class Images(nn.Module):
    def __init__(self, channels=4, blocks=2):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, channels, 3, stride=2, padding=1), nn.ReLU6(), nn.MaxPool2d(2))
        self.layer1 = nn.Sequential(*[Residual(channels) for _ in range(blocks)])
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(channels, 5)

    def forward(self, image):
        return self.fc(torch.flatten(self.pool(self.layer1(self.stem(image))), 1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.n1, self.n2, self.act = heads, nn.LayerNorm(width), nn.LayerNorm(width), nn.GELU()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        y = self.n1(x)
        q, k, v = (layer(y).reshape(batch, length, self.heads, -1).transpose(1, 2) for layer in (self.q, self.k, self.v))
        scores = torch.softmax(q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5, -1)
        x = x + self.o((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.act(self.up(self.n2(x))))


class Texts(nn.Module):
    def __init__(self, words=11, width=8, length=6, blocks=2):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(length, width))
        self.blocks, self.norm = nn.ModuleList(Block(width, 2) for _ in range(blocks)), nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def varied(model):
    """Weights that are not what they begin as: torch.onnx makes one of equal ones, and zeros hide what is before them."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            if weight.is_floating_point() and weight.dim() < 2:
                weight.copy_(torch.rand(weight.shape) + (0.5 if name.endswith(("weight", "var")) else 0))
            elif weight.is_floating_point() and not weight.any():
                weight.copy_(torch.randn(weight.shape) / weight.shape[-1])
    return model.eval()


def export(model, path, inputs, opset=17, **more):
    warnings.filterwarnings("ignore")
    name, tensor = next(iter(inputs.items()))
    torch.onnx.export(model, (tensor,), str(path), dynamo=False, input_names=[name], opset_version=opset, **more)


def small():
    torch.manual_seed(0)
    return {"images": (varied(Images()), {"image": torch.zeros(2, 3, 16, 16)}),
            "texts": (varied(Texts()), {"tokens": torch.zeros(2, 6, dtype=torch.int64)})}


def saved(folder, name, nodes, tensors=(), shape=(2, 3), opset=17, inputs=True, domain="", described=(), result=None):
    """One input, x; `described`: results whose shapes the file says."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape if inputs else None)
    infos = [each if isinstance(each, onnx.ValueInfoProto) else helper.make_tensor_value_info(each[0], TensorProto.FLOAT, each[1])
             for each in described]
    graph = helper.make_graph(nodes, "g", [x], [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], tensors, value_info=infos)
    sets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    (folder / f"{name}.onnx").write_bytes(helper.make_model(graph, opset_imports=sets).SerializeToString())


def by_hand(folder):
    """Weights and nodes with short names, and operators without a form."""
    def weight(name, *shape):
        return TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, raw_data=np.linspace(-1, 1, np.prod(shape), dtype="f").tobytes())

    first = helper.make_node("Gemm", ["x", "W1", "B1"], ["a"], transB=1)
    second = helper.make_node("MatMul", ["b", "W2"], ["y"])
    relu = helper.make_node("Relu", ["a"], ["b"])
    weights = [weight("W1", 4, 3), weight("B1", 4), weight("W2", 4, 2)]
    saved(folder, "hand", [first, relu, second], weights)
    nodes = [helper.make_node("FusedGelu", ["x"], ["z"], domain="com.example", name="/b/FusedGelu"),
             helper.make_node("Resize", ["z4", "", "s"], ["r"], mode="cubic", name="/up/Resize"),
             helper.make_node("Unsqueeze", ["z", "axes"], ["z4"]), helper.make_node("Flatten", ["r"], ["y"])]
    scales = TensorProto(name="s", data_type=TensorProto.FLOAT, dims=[4], float_data=[1, 1, 2, 2])
    axes = TensorProto(name="axes", data_type=TensorProto.INT64, dims=[2], int64_data=[1, 2])
    saved(folder, "opaque", [nodes[0], nodes[2], nodes[1], nodes[3]], [scales, axes], shape=("batch", 3), domain="com.example",
          described=[("z", ("batch", 3)), ("r", ("batch", 1, 2, 6))])


def with_bodies(folder):
    """Nodes that hold graphs, some inside of others, and a node with several results."""
    def body(nodes, inputs, outputs):
        kinds = {"i": TensorProto.INT64, "b": TensorProto.BOOL}
        infos = [[helper.make_tensor_value_info(name, kinds.get(name[0], TensorProto.FLOAT), None) for name in names]
                 for names in (inputs, outputs)]
        return helper.make_graph(nodes, "body", *infos)

    make = helper.make_node
    three = TensorProto(name="n", data_type=TensorProto.INT64, dims=[], int64_data=[3])
    yes = TensorProto(name="c", data_type=TensorProto.BOOL, dims=[], int32_data=[1])
    sums, turns = body([make("Add", ["h1", "x"], ["s"])], [], ["s"]), body([make("Neg", ["x"], ["m"])], [], ["m"])
    choice = make("If", ["b1"], ["h2"], then_branch=sums, else_branch=turns)
    inner = body([make("Identity", ["b1"], ["b2"]), choice, make("Exp", ["h2"], ["t"])], ["i1", "b1", "h1"], ["b2", "h2", "t"])
    saved(folder, "bodies", [make("Loop", ["n", "c", "x"], ["z", "y"], name="/loop", body=inner)], [three, yes])
    saved(folder, "rounds", [make("Loop", ["n", "c", "x"], ["z", "y"], name="/loop", body=inner)],
          [TensorProto(name="n", data_type=TensorProto.INT64, dims=[], int64_data=[1 << 62]), yes])
    two = TensorProto(name="k", data_type=TensorProto.INT64, dims=[1], int64_data=[2])
    result = helper.make_tensor_value_info("i", TensorProto.INT64, ("batch", 2))
    saved(folder, "several", [make("TopK", ["x", "k"], ["v", "i"], name="/top"), make("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
                              make("Add", ["v", "f"], ["y"])], [two], shape=("batch", 3), described=[("v", ("batch", 2)), result])


def huge(folder):
    """Sizes of which products, sums and counts are no numbers of 64 bits, and some of which they are."""
    rows, least = 1 << 40, -(1 << 63)

    def whole(name, *numbers):
        return TensorProto(name=name, data_type=TensorProto.INT64, dims=[len(numbers)], int64_data=numbers)

    def of_rows(name, nodes, tensors=(), shape=(rows, 3)):
        saved(folder, name, nodes, tensors, shape=shape)

    make = helper.make_node
    of_rows("rows", [make("Relu", ["x"], ["y"])])
    of_rows("square", [make("Relu", ["x"], ["y"])], shape=(rows, rows))
    of_rows("counted", [make("CumSum", ["x", "k"], ["y"], name="/sum")], [whole("k", 0)])
    of_rows("behind", [make("Trilu", ["x", "k"], ["y"])], [whole("k", least)], shape=(4, 4))
    of_rows("from_least", [make("Slice", ["x", "s", "e"], ["y"])], [whole("s", least), whole("e", (1 << 63) - 1)], shape=("n", 3))
    of_rows("repeated", [make("Tile", ["x", "k"], ["y"], name="/tile")], [whole("k", (1 << 63) - 1, 1)], shape=(2, 3))
    of_rows("outer", [make("Shape", ["x"], ["s"]), make("Mul", ["s", "s"], ["t"], name="/square"), make("Expand", ["x", "t"], ["y"])])
    where = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    of_rows("scaled", [make("Resize", ["x", "", "k"], ["y"], name="/up", **where)],
            [TensorProto(name="k", data_type=TensorProto.FLOAT, dims=[4], float_data=[1, 1, 1e6, 2])], shape=(1, 1, rows, 2))
    of_rows("spread", [make("ConvTranspose", ["x", "w"], ["y"], name="/spread", strides=[1 << 20, 1])],
            [TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 1, 1, 1], float_data=[1])], shape=(1, 1, rows, 1))


def wrong(folder):
    def far(name, location, size=24):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", location), ("offset", "0"), ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        saved(folder, name, [helper.make_node("Add", ["x", "w"], ["y"])], [tensor])

    relu = helper.make_node("Relu", ["x"], ["y"], name="/act/Relu")
    saved(folder, "old", [relu], opset=11)
    saved(folder, "new", [relu], opset=99)
    saved(folder, "shapeless", [relu], inputs=False)
    saved(folder, "open", [relu], shape=("batch", 3))
    saved(folder, "lacks", [helper.make_node("FusedGelu", ["x"], ["y"], domain="com.example", name="/b/FusedGelu")], domain="com.example")
    saved(folder, "form", [helper.make_node("Softplus", ["x"], ["z"]), helper.make_node("Erf", ["z"], ["y"], name="/c/Erf")])
    saved(folder, "loop", [helper.make_node("If", ["x"], ["y"], name="/if", then_branch=helper.make_graph([], "t", [], []))], result=(2, 3))
    saved(folder, "many", [helper.make_node("TopK", ["x", "k"], ["y", "i"], name="/top")],
          [TensorProto(name="k", data_type=TensorProto.INT64, dims=[1], int64_data=[2])])
    saved(folder, "order", [helper.make_node("Relu", ["z"], ["y"], name="/d/Relu")])
    saved(folder, "twice", [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Exp", ["x"], ["y"])])
    saved(folder, "few_inputs", [helper.make_node("Add", ["x"], ["y"], name="/e/Add")])
    saved(folder, "fit", [helper.make_node("Reshape", ["x", "s"], ["y"], name="/f/Reshape")],
          [TensorProto(name="s", data_type=TensorProto.INT64, dims=[2], int64_data=[4, 2])])
    saved(folder, "empty", [helper.make_node("Trilu", ["x", "k"], ["y"], name="/g/Trilu")],
          [TensorProto(name="k", data_type=TensorProto.INT64, dims=[0])])
    saved(folder, "short", [helper.make_node("Add", ["x", "w"], ["y"])],
          [TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3], raw_data=b"1234")])
    saved(folder, "large", [helper.make_node("Add", ["x", "w"], ["y"])],
          [TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 40])])
    saved(folder, "strings", [relu], [TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], string_data=[b"a"])])
    far("absent", "absent.bin")
    far("outside", "../outside.bin")
    far("absolute", "/etc/passwd")
    far("linked", "linked.bin")
    (folder / "few.bin").write_bytes(b"1234")
    far("few", "few.bin")
    (folder / "cut.onnx").write_bytes((folder / "form.onnx").read_bytes()[:40])
    (folder / "text.onnx").write_text("network", encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (model, inputs) in small().items():
        export(model, folder / f"{name}.onnx", inputs, training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=name == "texts")
        session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        (given, tensor), = inputs.items()
        random = np.random.default_rng(2)
        array = random.standard_normal(tensor.shape, np.float32) if tensor.is_floating_point() else random.integers(0, 11, tuple(tensor.shape))
        np.savez_compressed(folder / f"{name}.npz", **{f"input/{given}": array, "expected": session.run(None, {given: array})[0]})
    data = onnx.load(str(folder / "images.onnx"))
    onnx.save_model(data, str(folder / "apart.onnx"), save_as_external_data=True, location="apart.bin", size_threshold=64)
    by_hand(folder)
    with_bodies(folder)
    huge(folder)
    wrong(folder)


if __name__ == "__main__":
    main()
