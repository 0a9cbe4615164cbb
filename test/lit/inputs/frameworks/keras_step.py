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


def compare(tbemc, folder, name, options, number):
    text, program, arrays = steps.emitted(tbemc, folder, name, options, number, "keras")
    keras.backend.clear_session()
    module = steps.imported(program)
    model = steps.assigned(text, "model", vars(module))
    trains = steps.trains(arrays)
    inputs = [channels_last(array) for array in steps.group(arrays, "input").values()]
    given = inputs[0] if len(inputs) == 1 else inputs
    model(given)  # makes the variables
    ours = {path: array for word in ("weight", "buffer") for path, array in steps.group(arrays, word).items()}
    known = {path: variable(model, path) for path in ours}
    theirs = [one for one in model.variables if "seed_generator" not in one.path]
    assert {id(one) for one in theirs} == {id(one) for one in known.values()}, (len(theirs), len(known))
    assert len(theirs) == len(known), [one.path for one in theirs]

    def load():
        for path, array in ours.items():
            known[path].assign(in_their_order(array, known[path]))

    def farthest(word, values):
        group = {path: in_their_order(array, known[path]) for path, array in steps.group(arrays, word).items()}
        return steps.farthest(group, {path: values(path) for path in group}) if group else None

    def value(path):
        return keras.ops.convert_to_numpy(known[path].value)

    load()
    parts = np.array_split(np.arange(len(arrays["target"])), steps.parts(text)) if trains else [slice(None)]
    outputs = []
    for part in parts:
        output = model([one[part] for one in inputs] if len(inputs) > 1 else given[part], training=trains)
        outputs.append(output if isinstance(output, (tuple, list)) else (output,))
    differences = {}
    if trains:
        load()
        optimizer = steps.assigned(text, "optimizer", vars(module) | {"keras": keras})
        kept = keeping_gradients(optimizer)
        model.compile(optimizer=optimizer, loss=steps.keyword(text, "compile", "loss", vars(module)))
        loss = module.step(model, *inputs, channels_last(arrays["target"]))
        differences["loss"] = steps.far(arrays["loss"], loss)
        place = {id(one): number for number, one in enumerate(model.trainable_variables)}
        scale = len(parts)
        differences["gradients"] = farthest(
            "gradient", lambda path: keras.ops.convert_to_numpy(kept[place[id(known[path])]].value) / scale
        )
        for word, meaning in (("after", "weights after"), ("buffer_after", "buffers after")):
            distance = farthest(word, value)
            if distance is not None:
                differences[meaning] = distance
    names = [key for key in arrays if re.fullmatch(r"output(_\d+)?", key)]
    whole = [np.concatenate([keras.ops.convert_to_numpy(one) for one in several]) for several in zip(*outputs)]
    assert len(whole) == len(names), (len(whole), names)
    differences["output"] = max(steps.far(channels_last(arrays[key]), one) for key, one in zip(names, whole))
    steps.report(name, differences, model.count_params(), text)


if __name__ == "__main__":
    keras.config.set_floatx("float64")
    steps.main(compare)
