"""Files of torch.save, each with the same arrays in a .safetensors beside it: torch_files.py FOLDER."""
import sys
from collections import OrderedDict
from pathlib import Path

import torch
from safetensors.torch import save_file

folder = Path(sys.argv[1])


def write(name, value, arrays, **how):
    torch.save(value, folder / f"{name}.pth", **how)
    save_file({key: tensor.detach().contiguous().clone() for key, tensor in arrays.items()}, folder / f"{name}.safetensors")


torch.manual_seed(5)
model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
state = model.state_dict()
write("state", state, state)
write("stream", state, state, _use_new_zipfile_serialization=False)
write("protocol4", state, state, pickle_protocol=4)

optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
model(torch.ones(4, 3)).sum().backward()
optimizer.step()
training = {"epoch": 3, "best": 0.5, "model_state_dict": model.state_dict(), "optimizer": optimizer.state_dict(),
            "classes": ["cat", "dog"], "none": None}
write("training", training, model.state_dict())

numbers = torch.arange(6).reshape(2, 3)
types = {str(dtype).removeprefix("torch."): numbers.to(dtype) for dtype in (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.bool, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2)}
write("types", types, types)

base = torch.arange(24, dtype=torch.float32)
views = {"whole": base, "part": base[4:10], "turned": base.reshape(4, 6).t(), "columns": base.reshape(4, 6)[:, 1::2],
         "deep": base.reshape(2, 3, 4).permute(2, 0, 1), "wide": base[3:4].expand(5), "scalar": base[7], "none": base[:0],
         "ones": base[:3].reshape(1, 3, 1).expand(1, 3, 1)}
write("views", views, views)

nested = {"net": OrderedDict(a=torch.nn.Parameter(torch.ones(2)), layers=[torch.zeros(1), {"b": torch.full((2, 2), 7.0)}]),
          "size": torch.Size([1, 2]), "type": torch.float32, 3: torch.ones(1)}
write("nested", nested, {"net.a": torch.ones(2), "net.layers.0": torch.zeros(1), "net.layers.1.b": torch.full((2, 2), 7.0),
                         "3": torch.ones(1)})

# What is refused.
torch.save(model, folder / "model.pth")
torch.save({"x": torch.ones(2, dtype=torch.complex64)}, folder / "complex.pth")
torch.save(torch.ones(2), folder / "alone.pth")
torch.save({"x": torch.ones(1).expand(10**6)}, folder / "expanded.pth")
torch.save({"epoch": 3}, folder / "empty.pth")
torch.jit.script(model).save(folder / "script.pt")
