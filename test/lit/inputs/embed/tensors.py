"""Steps of tbem with tensors of NumPy and PyTorch: where memory lies, who keeps it, and what is computed."""
import gc
import sys
import weakref

import numpy as np
import torch

import tbem


def program(body, design, weights=""):
    return f"network net(x: tensor[n, c]) -> tensor[..s] {{\n{weights}  return {body}\n}}\ndesign d of net {{\n{design}\n}}\n"


AFFINE = program("dense(x, 3)", "  input x: [4, 6]")


def raised(kind, part, work):
    try:
        work()
    except kind as error:
        assert part in str(error), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")


def weight(step, end):
    names = [name for name in step.names if name.startswith("weight/") and name.endswith(end)]
    assert len(names) == 1, names
    return names[0]


# ---- The same memory ----
array = np.arange(24, dtype=np.float32).reshape(4, 6)
step = tbem.step(AFFINE, {"x": array})
assert step["x"].pointer == array.ctypes.data
output = np.from_dlpack(step["output"])
assert output.ctypes.data == step["output"].pointer and output.shape == (4, 3)
assert np.asarray(step["output"]).ctypes.data == output.ctypes.data
array *= 2  # what the next run reads
before = output.copy()
step.run()
w, b = np.from_dlpack(step[weight(step, ".weight")]), np.from_dlpack(step[weight(step, ".bias")])
assert not np.array_equal(output, before), "the view follows the step"
np.testing.assert_allclose(output, array @ w.T + b, rtol=1e-5, atol=1e-4)
np.asarray(step[weight(step, ".bias")])[:] = [10, 20, 30]  # written in place
step.run()
np.testing.assert_allclose(output, array @ w.T + [10, 20, 30], rtol=1e-5, atol=1e-4)
print("NumPy: the same memory in and out")

tensor = torch.arange(24, dtype=torch.float32).reshape(4, 6)
step.set("input/x", tensor)
assert step["x"].pointer == tensor.data_ptr()
shared = torch.from_dlpack(step["output"])
assert shared.data_ptr() == step["output"].pointer
step.run()
torch.testing.assert_close(shared, tensor @ torch.from_numpy(w.copy()).T + torch.tensor([10.0, 20, 30]))
tensor.mul_(-1)
step.run()
torch.testing.assert_close(shared, tensor @ torch.from_numpy(w.copy()).T + torch.tensor([10.0, 20, 30]))
torch.from_dlpack(step[weight(step, ".weight")]).zero_()  # PyTorch writes a weight of the step
step.run()
torch.testing.assert_close(shared, torch.tensor([10.0, 20, 30]).expand(4, 3))
print("PyTorch: the same memory in and out")

# ---- Copies ----
columns = np.asfortranarray(array)
raised(tbem.UsageError, "a copy would be needed: it is not row-major (copy=True copies)", lambda: step.set("x", columns))
raised(tbem.UsageError, "f64[4, 6], the step's is f32[4, 6]", lambda: step.set("x", array.astype(np.float64), copy=True))
raised(tbem.UsageError, "a copy would be needed: the step keeps it", lambda: step.set(weight(step, ".weight"), np.zeros((3, 6), np.float32)))
step.set("x", columns, copy=True)
assert step["x"].pointer != columns.ctypes.data
np.testing.assert_array_equal(np.from_dlpack(step["x"]), columns)
reversed_rows = torch.arange(24, dtype=torch.float32).reshape(6, 4).T
step.set("x", reversed_rows, copy=True)
np.testing.assert_array_equal(np.from_dlpack(step["x"]), reversed_rows.numpy())
copy = step.get("output", copy=True)
assert copy.pointer != step["output"].pointer
step.set(weight(step, ".bias"), np.zeros(3, np.float32), copy=True)
step.run()
assert np.all(np.from_dlpack(copy) == [10, 20, 30]) and np.all(np.from_dlpack(step["output"]) == 0)
square = tbem.step(program("matmul(x, x)", "  input x: [4, 4]"))
raised(tbem.UsageError, "memory of this step", lambda: square.set("x", square["output"]))
print("a copy only where it is asked for")

# ---- Lifetimes ----
class Watched(np.ndarray):
    pass


watched = np.ones((4, 6), np.float32).view(Watched)
gone = weakref.ref(watched)
step.set("x", watched)
view = step["x"]
del watched
gc.collect()
assert gone() is not None, "the step has it"
step.set("x", array)
gc.collect()
assert gone() is not None, "a tensor that was shared of it has it"
del view
gc.collect()
assert gone() is None, "nobody has it"
late = torch.from_dlpack(step["output"])
expected = late.clone()
held = sys.getrefcount(array)
del step, shared, output, w, b
gc.collect()
assert torch.equal(late, expected)  # the step's memory, behind the step
del late
gc.collect()
assert sys.getrefcount(array) == held - 1, "the last one let go of the step, and it of its input"
print("nothing is kept that nobody has")

# ---- Numbers ----
rng = np.random.default_rng(5)


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


NETWORKS = [("dense(x, 3)", lambda x, w: x @ w[0].T + w[1]),
            ("relu(x * 2.0 + 1.0)", lambda x, w: relu(x * 2 + 1)),
            ("softmax(dense(relu(dense(x, 9)), 5))", lambda x, w: softmax(relu(x @ w[0].T + w[1]) @ w[2].T + w[3])),
            ("matmul(x, transpose(x))", lambda x, w: x @ x.T)]
for backend in ("ref", "cpu"):
    for body, wanted in NETWORKS:
        x = rng.standard_normal((7, 11), dtype=np.float32)
        step = tbem.step(program(body, "  input x: [7, 11]"), {"x": x}, on=backend)
        weights = [np.from_dlpack(step[name]) for name in step.names if name.startswith("weight/")]
        np.testing.assert_allclose(np.from_dlpack(step["output"]), wanted(x, weights), rtol=2e-5, atol=2e-5, err_msg=body)
print("inference as NumPy computes it:", len(NETWORKS), "networks, 2 backends")

TRAINED = program("dense(relu(dense(x, 8)), 4)", "  input x: [16, 6]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.2))")
for backend in ("ref", "cpu"):
    x, target = torch.randn(16, 6), torch.randint(0, 4, (16,))
    step = tbem.step(TRAINED, {"x": x, "target": target}, on=backend, run=False)
    names = [name for name in step.names if name.startswith("weight/")]
    theirs = [torch.from_dlpack(step.get(name, copy=True)).requires_grad_() for name in names]
    for _ in range(30):
        hidden = torch.relu(torch.nn.functional.linear(x, theirs[0], theirs[1]))
        loss = torch.nn.functional.cross_entropy(torch.nn.functional.linear(hidden, theirs[2], theirs[3]), target)
        gradients = torch.autograd.grad(loss, theirs)
        ours = step.run()
        assert abs(ours["loss"] - loss.item()) < 1e-4, (ours["loss"], loss.item())
        for name, gradient in zip(names, gradients):
            own = torch.from_dlpack(step[name.replace("weight/", "gradient/")])
            torch.testing.assert_close(own, gradient, rtol=1e-4, atol=1e-5)
        with torch.no_grad():
            for each, gradient in zip(theirs, gradients):
                each -= 0.2 * gradient
        x.copy_(torch.randn(16, 6))  # in place: the step reads it where it lies
        for name, each in zip(names, theirs):
            torch.testing.assert_close(torch.from_dlpack(step[name]), each.detach(), rtol=1e-4, atol=1e-5)
print("training as PyTorch computes it: 30 steps, 2 backends")
