#!/usr/bin/env python3
"""Holds programs of `tbemc emit --as keras` against our own step: keras_step.py TBEMC FOLDER NAME... [--step OPTION...]

NAME is what `steps.main` says. Each program is emitted, must be as Black and Ruff want it, is imported, gets our weights by their
paths alone, and takes one step in f64 on our inputs, on the backend that KERAS_BACKEND names. Its variables must be our weights and
buffers and no others; output, loss, gradients, running statistics and, of a training, the weights after the step must be ours to
1e-9 of the largest number in each group. Prints a line a network.
"""
import os
import re

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # networks are compiled once for one step
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# pylint: disable=wrong-import-position
import keras  # noqa: E402 (reads the environment)
import numpy as np  # noqa: E402
import steps  # noqa: E402
from keras.src.backend.common import dtypes  # noqa: E402

# Keras takes f64 for f32 on all backends but TensorFlow (3.15), which would hide what a program computes otherwise.
dtypes.BIT64_TO_BIT32_DTYPE.update(int64="int64", float64="float64")
THEIRS = {
    "weight": ("kernel", "gamma", "embeddings", "alpha", "scale"),
    "bias": ("beta",),
    "running_mean": ("moving_mean",),
    "running_variance": ("moving_variance",),
}
JIT = keras.backend.backend() == "jax"  # the others need no compiler for one step
# Our order of a kernel's dimensions is (outputs, inputs, height, width); by rank, where Keras's come from.
KERNELS = {2: (1, 0), 3: (2, 1, 0), 4: (2, 3, 1, 0), 5: (2, 3, 4, 1, 0)}
RESERVED = {*steps.RESERVED, *dir(keras.Model), "input", "output", "optimizer", "loss", "stop_training"}


def variable(model, path):
    """The variable of one of our paths: of `stage[0].conv2d.weight`, `model.stage[0].conv2d.kernel`."""
    holder = model
    *places, last = re.findall(r"\w+", path)
    for place in places:
        if place.isdigit():
            holder = holder[int(place)]
        else:
            holder = getattr(holder, place + "_" if place.rstrip("_") in RESERVED else place)
    last = last + "_" if last.rstrip("_") in RESERVED else last
    names = THEIRS.get(last, ()) + (last,)
    return next(one for one in (getattr(holder, name, None) for name in names) if isinstance(one, keras.Variable))


def in_their_order(array, one):
    """Our array as the variable has it."""
    if one.path.endswith("/kernel"):
        array = array.transpose(KERNELS[array.ndim])
    return array.reshape(one.shape)


def channels_last(array):
    return np.moveaxis(array, 1, -1) if array.ndim > 3 and array.dtype.kind == "f" else array


def keeping_gradients(optimizer):
    """Puts the gradients of a step, before they are cut, into variables of the optimiser."""
    kept, build, apply = [], optimizer.build, optimizer.apply

    def build_also(variables):
        if not optimizer.built:
            build(variables)
            kept.extend(optimizer.add_optimizer_variables(variables, "kept"))

    def apply_also(grads, trainable_variables=None):
        for one, grad in zip(kept, grads):
            optimizer.assign(one, keras.ops.convert_to_tensor(one) + keras.ops.convert_to_tensor(grad))
        apply(grads, trainable_variables)

    optimizer.build, optimizer.apply = build_also, apply_also
    return kept


class Outputs(keras.metrics.Metric):
    """Keeps what the network gave in a step."""

    def __init__(self, shape):
        super().__init__()
        self.output = self.add_variable(shape, "zeros", name="output")

    def update_state(self, _, output, sample_weight=None):
        self.output.assign(output)

    def result(self):
        return 0.0


def as_numpy(tensor):
    return keras.ops.convert_to_numpy(tensor)


def may_race(options):
    """Whether a graph of TensorFlow may update a weight before the forward pass has read it: where no gradient waits for the output,
    as that of a loss which is linear in it. Keras's own SGD and Adagrad then give another output in 9 and 8 of 40 steps
    (Keras 3.15, TensorFlow 2.21); run eagerly in none."""
    return keras.backend.backend() == "tensorflow" and any("loss: kl_div" in option for option in options)


def trained(model, module, text, arrays, inputs, eagerly):
    """The loss, the whole output and the gradients, in the order of the variables, of the program's step."""
    count = steps.parts(text)
    optimizer = steps.assigned(text, "optimizer", vars(module))
    gradients = keeping_gradients(optimizer)
    optimizer.build(model.trainable_variables)  # an eager step would do so too late to keep its gradients
    shape = channels_last(arrays["output"]).shape
    output = Outputs((shape[0] // count, *shape[1:]))
    loss = steps.keyword(text, "compile", "loss", vars(module))
    model.compile(optimizer=optimizer, loss=loss, metrics=[output], jit_compile=JIT, run_eagerly=eagerly)
    outputs, step = [], model.train_on_batch

    def train_on_batch(*batch):
        value = step(*batch)[0]
        outputs.append(as_numpy(output.output.value))
        return value

    model.train_on_batch = train_on_batch
    loss = module.step(model, *inputs, channels_last(arrays["target"]))
    return loss, np.concatenate(outputs), [as_numpy(one.value) / count for one in gradients]


def compare(tbemc, folder, name, options, number):
    text, program, arrays = steps.emitted(tbemc, folder, name, options, number, "keras")
    keras.backend.clear_session()
    module = steps.imported(program)
    model = steps.assigned(text, "model", vars(module))
    inputs = [channels_last(array) for array in steps.group(arrays, "input").values()]
    symbols = [keras.KerasTensor(array.shape, str(array.dtype)) for array in inputs]
    model(symbols if len(symbols) > 1 else symbols[0])  # makes the variables
    ours = {path: array for word in ("weight", "buffer") for path, array in steps.group(arrays, word).items()}
    known = {path: variable(model, path) for path in ours}
    theirs = [one for one in model.variables if "seed_generator" not in one.path]
    assert {id(one) for one in theirs} == {id(one) for one in known.values()}, (len(theirs), len(known))
    assert len(theirs) == len(known), [one.path for one in theirs]
    for path, array in ours.items():
        known[path].assign(in_their_order(array, known[path]))

    def farthest(word, values):
        group = {path: in_their_order(array, known[path]) for path, array in steps.group(arrays, word).items()}
        return steps.farthest(group, {path: values[id(known[path])] for path in group})

    differences = {}
    if steps.trains(arrays):
        loss, output, gradients = trained(model, module, text, arrays, inputs, may_race(options))
        outputs = [output]
        differences["loss"] = steps.far(arrays["loss"], loss)
        places = [id(one) for one in model.trainable_variables]
        differences["gradients"] = farthest("gradient", dict(zip(places, gradients)))
        values = {id(one): as_numpy(one.value) for one in theirs}
        for word, meaning in (("after", "weights after"), ("buffer_after", "buffers after")):
            if any(key.startswith(word + "/") for key in arrays):
                differences[meaning] = farthest(word, values)
    else:
        model.compile(jit_compile=JIT)
        given = model.predict_on_batch(inputs if len(inputs) > 1 else inputs[0])
        outputs = list(given) if isinstance(given, (tuple, list)) else [given]
    names = [key for key in arrays if re.fullmatch(r"output(_\d+)?", key)]
    assert len(outputs) == len(names), (len(outputs), names)
    differences["output"] = max(steps.far(channels_last(arrays[key]), one) for key, one in zip(names, outputs))
    steps.report(name, differences, model.count_params(), text)


if __name__ == "__main__":
    keras.config.set_floatx("float64")
    steps.main(compare)
