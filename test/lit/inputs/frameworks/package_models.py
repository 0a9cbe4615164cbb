"""Models of PyTorch through the Python package: the same answers as of the program that `tbemc import` writes. Arguments: tbemc, a folder."""
import os
import subprocess
import sys

import tbem

assert "torch" not in sys.modules
tbemc, folder = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))


def raised(kind, part, work):
    try:
        work()
    except kind as error:
        assert part in str(error), str(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


# What a child makes; torch stays out of this process.
named = tbem.import_model("models:Classifier", {"image": (2, 3, 16, 16)})
assert "torch" not in sys.modules and named.inputs == {"image": [2, 3, 16, 16]} and named.network == "Classifier"
error = raised(tbem.ModelError, "no weights are there", lambda: tbem.import_model(here + "/wrong_models.py:Raises", (2, 3)))
assert error.place.endswith("wrong_models.py:15"), error.place
error = raised(tbem.ModelError, "`aten.fft_fft.default` has no form", lambda: tbem.import_model(here + "/wrong_models.py:Lacks", (2, 3)))
assert error.place.endswith("wrong_models.py:80"), error.place
raised(tbem.ModelError, "there is no file", lambda: tbem.import_model("nowhere.py:Net", (2, 3)))
raised(tbem.EnvironmentProblem, "was stopped after 20 s", lambda: tbem.import_model(here + "/wrong_models.py:hangs", (2, 3), max_time=20))
raised(OSError, "cannot start ./none", lambda: tbem.import_model("models:Classifier", (2, 3), python="./none"))
raised(tbem.UsageError, "say what the model reads", lambda: tbem.estimate("models:Classifier"))
assert "torch" not in sys.modules
print("by name: torch is imported by a child alone")

import torch  # noqa: E402 (from here on it is there)
import models  # noqa: E402

model = models.Classifier().train()
model.stem.eval()
modes = [each.training for each in model.modules()]
forwards = [vars(each).get("forward") for each in model.modules()]
given = tbem.import_model(model, torch.zeros(2, 3, 16, 16))
assert [each.training for each in model.modules()] == modes and len(set(modes)) == 2
assert [vars(each).get("forward") for each in model.modules()] == forwards
assert given.text == named.text, given.text
assert given.text.splitlines() == subprocess.run(
    [tbemc, "import", "models:Classifier", "--input", "image=2,3,16,16", "--python", sys.executable], cwd=here, stdout=subprocess.PIPE,
    text=True, check=True).stdout.splitlines()
print("a module: the same program, and the module as it was")

path = folder + "/classifier.tbem"
with open(path, "w", encoding="utf-8") as file:
    file.write(given.text)


def said(*arguments):
    return subprocess.run([tbemc, *arguments, "--cudnn", "none", "--json", "--quiet"], stdout=subprocess.PIPE, text=True, check=False).stdout


step = ["-e", "Classifier", "--input", "image=64,3,16,16", "--task", "train(loss: cross_entropy, optimizer: adamw(lr: 0.0003, "
        "beta1: 0.9, beta2: 0.999, eps: 0.00000001, weight_decay: 0.01))"]


def lines(answer):
    """Without the name that the program has in one case and not in the other."""
    return answer.replace('"file":"Classifier.tbem"', f'"file":"{path}"').replace("at Classifier.tbem", f"at {path}").replace(
        " Classifier.tbem:", f" {path}:")


optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
estimate = tbem.estimate(model, torch.zeros(2, 3, 16, 16), optimizer=optimizer, device="h100_pcie", batch=64)
assert lines(estimate.json) == said("estimate", path, *step, "--on", "pytorch", "--device", "h100_pcie")
assert estimate.peak == dict((part, size) for part, size, _ in estimate.waterfall)["reserved"] >= estimate.allocated > 0
assert estimate.bounds[0] <= estimate.peak and estimate.peak_place.rpartition(":")[0].endswith("models.py"), estimate.peak_place
assert "activations" in estimate.table and "the peak is in the" in str(estimate)
page = estimate._repr_html_()
assert page.count("<table") == 2 and "width:100.00%" in page and estimate.peak_place in page, page
forward = given.estimate(batch=64)
assert forward.peak < estimate.peak and given.estimate(device="cpu").allocated is None
fit = tbem.fit(model, (2, 3, 16, 16), optimizer=optimizer, device="h100_pcie", max="80MiB")
varied = [word.replace("64,3", "batch,3") for word in step]
assert lines(fit.json) == said("fit", path, *varied, "--vary", "batch", "--on", "pytorch", "--device", "h100_pcie", "--max", "80MiB")
largest = fit.largest
fits = lambda batch: given.estimate(optimizer=optimizer, device="h100_pcie", batch=batch, max="80MiB").verdict
assert fits(largest) and not fits(largest + 1)
changes = tbem.what_if(model, (2, 3, 16, 16), optimizer=optimizer, batch=64)
assert "h100" in changes.devices and "<td>h100</td>" in changes._repr_html_() and changes.savings
assert lines(changes.json) == said("what-if", path, *step, "--on", "pytorch")
print("estimate, fit and what-if: the same lines as tbemc")

for made, text in [
        (torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4),
         "sgd(lr: 0.1, momentum: 0.9, dampening: 0, nesterov: true, weight_decay: 0.0005)"),
        (torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.8, 0.99)),
         "adam(lr: 0.001, beta1: 0.8, beta2: 0.99, eps: 0.00000001, weight_decay: 0)"),
        (torch.optim.RMSprop(model.parameters(), lr=0.01, centered=True),
         "rmsprop(lr: 0.01, alpha: 0.99, eps: 0.00000001, momentum: 0, centered: true, weight_decay: 0)"),
        (torch.optim.Adagrad(model.parameters(), lr=0.01),
         "adagrad(lr: 0.01, lr_decay: 0, initial: 0, eps: 0.0000000001, weight_decay: 0)")]:
    assert tbem._optimizers.optimizer_text(made) == text, tbem._optimizers.optimizer_text(made)
    given.estimate(optimizer=made)
raised(tbem.UsageError, "`amsgrad=True` has no counterpart", lambda: given.estimate(optimizer=torch.optim.Adam(model.parameters(), amsgrad=True)))
raised(tbem.UsageError, "`maximize=True` has no counterpart", lambda: given.estimate(optimizer=torch.optim.Adam(model.parameters(), maximize=True)))
raised(tbem.UsageError, "the optimiser is LBFGS", lambda: given.estimate(optimizer=torch.optim.LBFGS(model.parameters())))

# Parameter groups, and what the model freezes.
raised(tbem.UsageError, "the optimiser does not move stages.0.conv.weight", lambda: given.estimate(optimizer=torch.optim.SGD(model.stem.parameters())))
raised(tbem.UsageError, "are not the model's", lambda: given.estimate(optimizer=torch.optim.SGD(models.Classifier().parameters())))
biases = [one for name, one in model.named_parameters() if name.endswith("bias")]
others = [one for name, one in model.named_parameters() if not name.endswith("bias")]
groups = torch.optim.AdamW([{"params": others, "weight_decay": 0.01}, {"params": biases, "weight_decay": 0}], lr=3e-4)
raised(tbem.UsageError, "give the model itself", lambda: tbem._optimizers.optimizer_text(groups))
apart = step[-1].replace("train(loss: cross_entropy, optimizer: ", "")[:-1].replace("weight_decay: 0.01", "weight_decay: 0")
names = [f'"{given.paths[name]}"' for name, _ in model.named_parameters() if name.endswith("bias")]
options = ["--optimizer", f"{apart} on [{', '.join(names)}]", "--on", "pytorch", "--device", "h100_pcie"]
assert lines(given.estimate(optimizer=groups, device="h100_pcie", batch=64).json) == said("estimate", path, *step, *options)
model.stem.requires_grad_(False)
frozen = tbem.import_model(model, torch.zeros(2, 3, 16, 16))
assert frozen.frozen == ["stem"] and "  freeze stem\n" in frozen.text, frozen.text
less = frozen.estimate(optimizer=torch.optim.AdamW(model.parameters(), lr=3e-4), device="h100_pcie", batch=64)
assert lines(less.json) == said("estimate", path, *step, "--freeze", "stem", "--on", "pytorch", "--device", "h100_pcie")
assert less.peak <= estimate.peak and lines(frozen.estimate(batch=64).json) == lines(given.estimate(batch=64).json)
model.stem.requires_grad_(True)
thawed = frozen.estimate(optimizer=torch.optim.AdamW(model.parameters(), lr=3e-4), device="h100_pcie", batch=64)
assert lines(thawed.json) == lines(estimate.json)  # what the module freezes when it is asked

# Weights that the program calls otherwise than the model.
for renamed, shape in [(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)), (2, 4)),
                       (models.Tagger(), "2,7:i64")]:
    biases = [one for name, one in renamed.named_parameters() if "bias" in name]
    others = [one for name, one in renamed.named_parameters() if "bias" not in name]
    groups = torch.optim.SGD([{"params": others, "momentum": 0.9}, {"params": biases, "momentum": 0}], lr=0.1)
    whole = torch.optim.SGD(renamed.parameters(), lr=0.1, momentum=0.9)
    read = tbem.import_model(renamed, shape)
    saved = [read.estimate(optimizer=one, device="cpu").peak for one in (whole, groups)]
    assert saved[0] > saved[1], saved
print("parameter groups, and what is frozen: the same lines as tbemc")

raised(tbem.UsageError, "a loss is of a training step", lambda: given.estimate(loss="mse"))
raised(tbem.UsageError, "no input `x`: image", lambda: given.estimate(inputs={"x": (1, 3, 16, 16)}))
raised(tbem.UsageError, "batch is 0", lambda: given.estimate(batch=0))
raised(tbem.UsageError, "an input is uint8", lambda: tbem.import_model(model, torch.zeros(2, 3, 16, 16, dtype=torch.uint8)))
raised(tbem.UsageError, "2 inputs, and `forward` has 1", lambda: tbem.import_model(model, (torch.zeros(2, 3, 16, 16), (2, 3))))
raised(tbem.UsageError, "is no model", lambda: tbem.import_model("resnet(depth: 50)", (2, 3)))
assert tbem.estimate("mlp(widths: [4, 2])", input={"x": (5, 3)})[0]["parameters"] == 26
assert tbem.estimate(path, device="h100_pcie").most["network"] == "Classifier"
error = raised(tbem.ModelError, "GuardOnDataDependentSymNode", lambda: tbem.estimate(__import__("wrong_models").Depends(), (2, 3)))
assert error.place.endswith("wrong_models.py:41"), error.place
print("optimisers, and what is refused")


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.channels, self.conv = 4, torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)

    @tbem.spec("x: tensor[b, 3, h, w] -> tensor[b, channels]", pre="h >= 2 and w >= 2")
    def forward(self, x):
        y = self.conv(x)
        z = torch.nn.functional.avg_pool2d(x, 2)
        return (y + z.sum(1, keepdim=True)).mean((2, 3))


pooled = Pooled()
pooled(torch.zeros(2, 3, 8, 8))  # of an even height there is nothing to say
found = tbem.check(pooled, inputs=(2, 3, 8, 8))
assert not found.verdict and any(place.endswith(f"package_models.py:{Pooled.forward.__wrapped__.__code__.co_firstlineno + 4}")
                                 for place in found.places), found.places
raised(tbem.UsageError, "has no @tbem.spec", lambda: tbem.check(model, inputs=(2, 3, 16, 16)))
raised(tbem.SpecificationError, "is [2, 2, 8, 8], and is specified as tensor[b, 3, h, w]", lambda: pooled(torch.zeros(2, 2, 8, 8)))
compiled = torch.compile(pooled, backend="eager", fullgraph=True)
assert torch.equal(compiled(torch.ones(2, 3, 8, 8)), pooled(torch.ones(2, 3, 8, 8)))
print("a decorated module is proved for all sizes, and traced")
