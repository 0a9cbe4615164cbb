#!/usr/bin/env python3
"""Holds programs made of ONNX files against PyTorch and ONNX Runtime: onnx_step.py TBEMC FOLDER [NAME].

Models are exported by both of torch.onnx's exporters, from TorchScript and from torch.export (`-script`, `-export`; `-kept`: with batch
normalisations as they are, where others are multiplied into the weights before them, in f32), imported with an open batch where the model
allows one, and infer in f64 from the weights that the import wrote, on a batch of another size than that of the export. The output is
compared with PyTorch's in f64 and, in f32, with what ONNX Runtime makes of the file. Weights that keep PyTorch's
names are read from its own file, too. Prints a line a model.
"""
import pathlib
import sys

import numpy as np
import onnxruntime
import torch
import torchvision
import transformers

import onnx_models
import steps

# By the largest number of the output. Numbers that the file has in f32 (the scale of attention, the root of two) are no nearer in f64.
KEPT, DOUBLE, SINGLE = 1e-8, 1e-6, 1e-5


class Part(torch.nn.Module):
    """One result of a model of transformers, in evaluation mode."""

    def __init__(self, model, key):
        super().__init__()
        self.model, self.key = model, key

    def forward(self, tokens):
        return getattr(self.model(tokens, use_cache=False), self.key)


def vgg():
    vision = torchvision.models.vgg
    return torch.nn.Sequential(vision.make_layers([8, "M", 16, "M", 32, "M"], batch_norm=True), torch.nn.Flatten(), torch.nn.Linear(512, 32),
                               torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(32, 10))


def bert():
    config = transformers.BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                                     max_position_embeddings=32, attn_implementation="eager")
    return Part(transformers.BertModel(config), "last_hidden_state")


def gpt2():
    config = transformers.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=32, bos_token_id=0, eos_token_id=0,
                                     attn_implementation="eager")
    return Part(transformers.GPT2LMHeadModel(config), "logits")


def models():
    """Name, model, input, exporters, and whether the batch is open."""
    vision = torchvision.models
    image, tokens = {"image": torch.zeros(2, 3, 64, 64)}, {"tokens": torch.zeros(2, 8, dtype=torch.int64)}
    for name, (model, inputs) in onnx_models.small().items():
        yield name, model, inputs, ("script13", "kept", "script", "export"), True
    yield "vgg", vgg(), {"image": torch.zeros(2, 3, 32, 32)}, ("kept", "script", "export"), True
    yield "resnet18", vision.resnet18(num_classes=10), image, ("kept", "script", "export"), True
    yield "mobilenet_v2", vision.mobilenet_v2(num_classes=10), image, ("kept", "script", "export"), True
    yield "densenet121", vision.densenet121(num_classes=10), image, ("kept", "script", "export"), True
    yield "efficientnet_b0", vision.efficientnet_b0(num_classes=10), image, ("kept", "script", "export"), True
    vit = vision.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10)
    yield "vit", vit, {"image": torch.zeros(2, 3, 32, 32)}, ("kept", "script", "export"), True
    yield "bert", bert(), tokens, ("kept", "script"), True
    yield "bert_fixed", bert(), tokens, ("export",), False
    yield "gpt2", gpt2(), tokens, ("export",), False


def export(model, path, inputs, exporter, is_open):
    (given, tensor), = inputs.items()
    if exporter == "export":
        sizes = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)} if is_open else {}
        torch.onnx.export(model, (tensor,), str(path), dynamo=True, input_names=[given], external_data=False, verbose=False, **sizes)
    else:
        kept = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False} if exporter == "kept" else {}
        onnx_models.export(model, path, inputs, 13 if exporter == "script13" else 17, dynamic_axes={given: {0: "batch"}}, **kept)


def compare(tbemc, folder, name, model, inputs, is_open):
    (given, tensor), = inputs.items()
    shape = [3 if is_open else tensor.shape[0], *tensor.shape[1:]]
    program, saved, file = folder / f"{name}.tbem", folder / f"{name}.npz", folder / f"{name}.onnx"
    steps.run([tbemc, "import", str(file), "--input", f"{given}={','.join(map(str, tensor.shape))}", "--strict", "--name", "net", "-o",
               str(program), "--quiet"])
    far = [0, 0]
    for weights in (f"{name}.safetensors", *([f"{name}.pth"] if (folder / f"{name}.pth").exists() else [])):
        partial = ["--partial"] if weights.endswith("pth") else []  # PyTorch counts batches, too
        steps.run([tbemc, "step", str(program), "-e", "net()", "--input", f"{given}={','.join(map(str, shape))}", "--load",
                   str(folder / weights), "--names", str(folder / f"{name}.names"), "--on", "ref", "--dtype", "f64", "--save", str(saved),
                   "--quiet", *partial])
        arrays = dict(np.load(saved))
        read = arrays[f"input/{given}"]
        with torch.no_grad():
            exact = model.double()(torch.from_numpy(read)).numpy()
        model.float()
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        single, = session.run(None, {given: read.astype(np.float32) if read.dtype == np.float64 else read})
        far = [max(far[0], steps.far(arrays["output"], exact)), max(far[1], steps.far(arrays["output"], single))]
    return far


def main():
    tbemc, folder, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    onnxruntime.set_default_logger_severity(3)
    for name, model, inputs, exporters, is_open in models():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(1)
        model = onnx_models.varied(model)
        for exporter in exporters:
            case = f"{name}-{exporter}"
            export(model, folder / f"{case}.onnx", inputs, exporter, is_open)
            if exporter == "kept":
                torch.save(model.state_dict(), folder / f"{case}.pth")
            exact, single = compare(tbemc, folder, case, model, inputs, is_open)
            good = exact <= (KEPT if exporter == "kept" else DOUBLE) and single <= SINGLE
            lines = len((folder / f"{case}.tbem").read_text(encoding="utf-8").splitlines())
            print(f"{case}: {lines} lines, {'agrees' if good else 'DIFFERS'} (f64 {exact:.0e}, f32 {single:.0e})", flush=True)


main()
