"""@tbem.spec without PyTorch: any object with a shape and a type is a tensor."""
import subprocess
import sys

import tbem
from tbem._shapes import read_signature


class Array:
    def __init__(self, *shape, dtype="torch.float32"):
        self.shape, self.dtype = shape, dtype


def raised(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


class Net:
    def __init__(self):
        self.classes, self.calls, self.extra = 10, 0, 0

    @tbem.spec("x: tensor[b, 3, h, w], mask: bool[b] -> (y: tensor[b, classes], f32[h div 2, ..])".replace(", ..", ""),
               pre="h mod 4 = 0 and w >= h", post="b <= 8")
    def forward(self, x, mask=None):
        self.calls += 1
        return Array(x.shape[0], 10 + self.extra), Array(x.shape[2] // 2)


net, mask = Net(), Array(2, dtype="torch.bool")
for _ in range(3):
    net.forward(Array(2, 3, 8, 8), mask=mask)
assert net.calls == 3
wrong = [
    ("`x` is [2, 4, 8, 8], and is specified as tensor[b, 3, h, w]: dimension 1 is 4, and 3 is specified", Array(2, 4, 8, 8), mask),
    ("`x` is [2, 3, 8], and is specified as tensor[b, 3, h, w]: it has 3 dimensions, not 4", Array(2, 3, 8), mask),
    ("`x` has the type int64, and is specified as tensor[b, 3, h, w]", Array(2, 3, 8, 8, dtype="torch.int64"), mask),
    ("`mask` is [3], and is specified as bool[b]: dimension 0 is 3, and b is 2", Array(2, 3, 8, 8), Array(3, dtype="bool.bool")),
    ("`mask` is NoneType, and is specified as bool[b]", Array(2, 3, 8, 8), None),
    ("`pre h mod 4 = 0 and w >= h` does not hold (with classes = 10, b = 2, h = 6, w = 8)", Array(2, 3, 6, 8), mask),
]
for part, x, given in wrong:
    error = raised(tbem.SpecificationError, lambda: net.forward(x, given))
    assert part in str(error), error
    assert error.called.endswith(f"specification.py:{error.__traceback__.tb_next.tb_lineno}"), error.called
    assert error.specified.endswith(f"specification.py:{Net.forward.__wrapped__.__code__.co_firstlineno}") and f"specified at {error.specified}: x: tensor" in str(error), error.specified
assert net.calls == 3  # what is wrong with the inputs is said before the function runs
assert error.sizes == {"classes": 10, "b": 2, "h": 6, "w": 8} and error.name == "pre"
error = raised(tbem.SpecificationError, lambda: net.forward(Array(9, 3, 8, 8), Array(9, dtype="torch.bool")))
assert "`post b <= 8` does not hold" in str(error) and net.calls == 4, error
net.extra = 1  # shapes that were right before, and another result
error = raised(tbem.SpecificationError, lambda: net.forward(Array(2, 3, 8, 8), mask))
assert "`y` is [2, 11], and is specified as tensor[b, classes]: dimension 1 is 11, and classes is 10" in str(error), error
net.classes = 11  # an attribute that changes is not remembered as it was
net.forward(Array(2, 3, 8, 8), mask)
print("calls are looked at, with both lines")


@tbem.spec("x: tensor[..s], y: tensor[..s, k] -> tensor[k - 1, ..s]")
def rotate(x, y, short=0):
    return Array(y.shape[-1] - 1 - short, *x.shape)


rotate(Array(), Array(4))
rotate(Array(2, 3, 5), y=Array(2, 3, 5, 4))
error = raised(tbem.SpecificationError, lambda: rotate(Array(2, 3), Array(2, 4, 4)))
assert "`..s` is [2, 4] here, and was [2, 3]" in str(error), error
error = raised(tbem.SpecificationError, lambda: rotate(Array(2, 3), Array(2, 3, 4), short=1))
assert "the result is [2, 2, 3]" in str(error) and "k - 1 is 3" in str(error), error
assert raised(ValueError, lambda: rotate(Array(2, 3), Array(4)))
print("any number of dimensions")

for text, part in [
        ("x: tensor[b", "`,` is expected in place of `its end`"), ("x: tensor[b]", "`->` is expected in place of `its end`"),
        ("x: int[b] -> tensor[b]", "`int` is no type of tensors"), ("x: tensor[..a, ..b] -> tensor", "`..` stands twice"),
        ("x: tensor[b +] -> tensor[b]", "`b +` is no expression"), ("x: tensor[b] -> tensor[b] tensor", "`tensor` is left over"),
        ("x: tensor[b.c] -> tensor", "`.` in"), ("x: tensor[] , 3 -> tensor", "`3` is no name of an input"),
        ("x: tensor[__import__('os')] -> tensor", "`'` in")]:
    error = raised(tbem.UsageError, lambda: tbem.spec(text)(lambda x: x))
    assert part in str(error), (text, str(error))
assert "has no parameter `y`" in str(raised(tbem.UsageError, lambda: tbem.spec("y: tensor -> tensor")(lambda x: x)))
assert "`b` in `b * c` is not known" in str(raised(tbem.UsageError, lambda: tbem.spec("x: tensor[b * c] -> tensor")(lambda x: x)(Array(6))))
assert "`q` in `pre q = 1` is not known" in str(raised(
    tbem.UsageError, lambda: tbem.spec("x: tensor[b] -> tensor", pre="q = 1")(lambda x: x)(Array(6))))
inputs, outputs = read_signature("x: tensor[2*(h-1), ..s] -> (a: i64[n div 2], f32[])")
assert str(inputs[0]) == "tensor[2 * (h - 1), ..s]" and [str(each) for each in outputs] == ["i64[n div 2]", "f32[]"], inputs[0]
print("wrong specifications are refused")

program = "import tbem\n@tbem.spec('x: tensor[1] -> tensor')\ndef f(x):\n    return x\nprint(f(3), f.__tbem_specification__.text)\n"
said = subprocess.run([sys.executable, "-O", "-B", "-c", program], capture_output=True, text=True, check=True).stdout
assert said == "3 x: tensor[1] -> tensor\n", said
print("python -O looks at nothing")
