"""The package tbem without NumPy: import, answers, errors, display, the magic. Arguments: tbemc, a folder."""
import gc
import json
import subprocess
import sys

import tbem

tbemc, folder = sys.argv[1:]
loaded = {"numpy", "torch", "IPython"} & {name.partition(".")[0] for name in sys.modules}
assert not loaded, loaded
print("import: neither numpy nor torch nor IPython")

NETWORK = "network net(x: tensor[n, c]) -> tensor[n, 2] {\n  return dense(relu(dense(x, 4)), 2)\n}\n"
PROGRAM = NETWORK + ("design d of net {\n  factor batch: 2, 4\n  input x: [batch, 5]\n"
                     "  task train(loss: cross_entropy, optimizer: sgd(lr: 0.5))\n  full\n}\n")
path = folder + "/net.tbem"
with open(path, "w", encoding="utf-8") as file:
    file.write(PROGRAM)
with open(folder + "/bad.tbem", "w", encoding="utf-8") as file:
    file.write(PROGRAM.replace("dense(x", "denze(x"))


def same(answer, *arguments):
    """The lines that the program prints of the same question."""
    said = subprocess.run([tbemc, *arguments, "--json", "--quiet"], stdout=subprocess.PIPE, text=True, check=False).stdout
    assert said == answer.json, (said, answer.json)
    return 1


session = tbem.Session(PROGRAM, path)
commands = same(session.estimate(), "estimate", path)
commands += same(session.estimate(on="pytorch-cpu", at={"batch": 4}), "estimate", path, "--on", "pytorch-cpu", "--at", "batch=4")
commands += same(session.fit(max="20KiB"), "fit", path, "--max", "20KiB")
commands += same(tbem.estimate("mlp(widths: [4, 2])", input={"x": (5, 3)}), "estimate", "-e", "mlp(widths: [4, 2])", "--input", "x=5,3")
commands += same(tbem.check(PROGRAM.replace("dense(x", "denze(x"), folder + "/bad.tbem"), "check", folder + "/bad.tbem")
commands += same(session.estimate(on="pytorch", device="h100", cudnn="none"), "estimate", path, "--on", "pytorch", "--device", "h100",
                 "--cudnn", "none")
print("the same lines as tbemc:", commands, "commands")


def raised(kind, part, work):
    try:
        work()
    except kind as error:
        assert part in str(error), str(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


bad = tbem.Session(PROGRAM.replace("dense(x", "denze(x"), "bad.tbem")
found = raised(tbem.ProgramError, "denze", bad.estimate).findings
assert found[0]["code"] == "E0201" and not found, found.rows
assert not bad.check() and session.check()
raised(tbem.UsageError, "did you mean `threads`?", lambda: session.estimate(thread=2))
raised(ValueError, "--max", session.fit)
raised(tbem.UsageError, "the option `json`", lambda: session.check(json=True))
raised(tbem.UsageError, "tbem_load comes first", tbem.Session().check)
raised(tbem.UsageError, "has no __dlpack__", lambda: tbem.step(PROGRAM, {"x": [1, 2]}))
raised(tbem.UsageError, "no tensor `y`", lambda: tbem.step(PROGRAM)["y"])
gather = ("network net(x: tensor[n]) -> tensor[..s] {\n  weight table: tensor[7, 3] init ones\n"
          "  return gather(table, cast(fill(shape: [2], value: 9), to: i64), axis: 0)\n}\ndesign d of net { input x: [1] }\n")
raised(tbem.RunError, "index 9 at position 0 is not in 0..6", lambda: tbem.step(gather))
against = session.estimate(max="100B")
assert against.verdict is False and len(against) == 2
assert session.estimate().verdict is True
print("errors are exceptions")

answer = session.estimate()
page = answer._repr_html_()
assert page.startswith("<table") and page.count("<tr>") == 3 and "<td>34</td>" in page and "batch=2" in page, page
assert "arena" in page and "FLOPs" in page
hostile = tbem.Session(PROGRAM.replace("dense(x", "denze(x"), "<script>.tbem").check()._repr_html_()
assert "<script>" not in hostile and "&lt;script&gt;.tbem:2:" in hostile, hostile
assert "22" in str(session.fit(max="20KiB", at={"batch": 2})) or session.fit(max="20KiB").largest > 4
assert "unknown name" in found._repr_html_()
print("display as HTML")

try:
    from IPython.testing.globalipapp import start_ipython
    ipython = start_ipython()
    ipython.run_line_magic("load_ext", "tbem")
    cell = lambda line, text: ipython.run_cell_magic("tbem", line, text)
except ImportError:
    class Shell:
        """What IPython documents of `register_magic_function`, and its names."""

        def __init__(self):
            self.user_ns, self.magics = {}, {}

        def register_magic_function(self, func, magic_kind="line", magic_name=None):
            self.magics[magic_kind, magic_name] = func

    ipython = Shell()
    tbem.load_ipython_extension(ipython)
    cell = lambda line, text: ipython.magics["cell", "tbem"](line, text)
shown = cell("--input x=5,3 --into kept", "mlp(widths: [4, 2])\n")
assert shown[0]["parameters"] == 26 and "<td>26</td>" in shown._repr_html_() and ipython.user_ns["kept"] is shown
assert cell("fit --max 20KiB", PROGRAM).largest == session.fit(max="20KiB").largest
assert cell("estimate --input=x=3,5 --on=none", NETWORK)[0]["parameters"] == 34
assert cell("check", PROGRAM) and not cell("check", PROGRAM.replace("dense(x", "denze(x"))
assert cell("", PROGRAM.replace("dense(x", "denze(x"))[0]["code"] == "E0201"
raised(tbem.UsageError, "neither check, estimate, fit nor an option", lambda: cell("guess", PROGRAM))
print("a cell magic")

step = session.step(at={"batch": 2}, on="ref", seed=3)
assert step.result["kind"] == "step" and step.result["loss"] > 0
loss = step["loss"]
assert abs(loss.item() - step.result["loss"]) < 1e-6 and loss.shape == () and loss.__dlpack_device__() == (1, 0)
first = step.get("loss", copy=True)
kept = step["output"]
step.run(50)
assert step["loss"].item() == loss.item() < first.item() / 2  # the shared one follows, the copy stays
del step, session
gc.collect()
assert kept.shape == (2, 2) and kept.dtype == "f32" and loss.item() > 0
capsule = kept.__dlpack__(max_version=(1, 1))
assert "dltensor_versioned" in repr(capsule)
del capsule, kept, loss  # nobody took the capsule's tensor
raised(BufferError, "not on (2, 0)", lambda: first.__dlpack__(dl_device=(2, 0)))
assert json.loads(answer.json.splitlines()[0])["kind"] == "estimate"
print("steps without NumPy")
