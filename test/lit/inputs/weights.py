"""Writes .safetensors files for weights.test."""
import sys

from safetensors_file import write

folder = sys.argv[1]
first = ("F64", [4, 3], [0.5] * 12)  # converted to f32
second = ("F32", [2, 4], [0.25] * 8)
biases = {"layer[0].dense.bias": ("F32", [4], [0] * 4), "layer[1].dense.bias": ("F32", [2], [1] * 2)}
write(f"{folder}/plain.safetensors", {"layer[0].dense.weight": first, "layer[1].dense.weight": second, **biases})
write(f"{folder}/wrong.safetensors",
      {"layer[0].dense.wieght": first, "layer[1].dense.weight": ("F32", [3, 4], [0] * 12), **biases})
theirs = {"net.10.weight": second, "net.2.weight": first, "net.2.bias": ("F32", [4], [0] * 4), "net.10.bias": ("F32", [2], [1] * 2),
          "steps": ("F32", [], [7])}
write(f"{folder}/theirs.safetensors", theirs)
write(f"{folder}/inside.safetensors", {f"module.model.{name}": array for name, array in theirs.items()})
write(f"{folder}/module.safetensors", {"module.layer[0].dense.weight": first, "module.layer[1].dense.weight": second,
                                       **{f"module.{name}": array for name, array in biases.items()}})
write(f"{folder}/with_input.safetensors", {"input/x": ("F32", [2, 3], [1, 2, 3, 4, 5, 6]), **theirs})
write(f"{folder}/damaged.safetensors", {"layer[0].dense.bias": ("F32", [4], [0] * 4)}, cut=8)
# Two names of one place, an input of whole numbers that is none, a result.
write(f"{folder}/tokens.safetensors", {"weight/embedding.weight": ("F32", [5, 2], [0] * 10), "embedding.weight": ("F32", [5, 2], [0] * 10),
                                       "input/tokens": ("F32", [3], [0, 1.5, 2]), "loss": ("F32", [], [1])})
