#!/usr/bin/env python3
"""Holds programs of `tbemc emit --as pytorch` against our own step: pytorch_step.py TBEMC FOLDER NAME... [--step OPTION...]

NAME is a program, or a network with its input as the command line has it, of the standard library or of a program:
`resnet(depth: 18)|image=2,3,64,64`, `own.tbem@net|x=2,3`. Each is emitted, must be as Black and Ruff want it, is imported, loaded with our
weights by name alone, and takes one step in f64 on our inputs. Its state must have our weights and buffers and no others;
output, loss, gradients, running statistics and, of a training, the weights after the step must be ours to 1e-9 of the largest number in
each group. Prints a line a network.
"""
import functools
import re

import steps
import torch

RESERVED = {*steps.RESERVED, *dir(torch.nn.Module), "training"}


def state_name(path):
    """`stage[0].conv2d.weight` as PyTorch's state has it: `stage.0.conv2d.weight`."""
    words = re.sub(r"\[(\d+)\]", r".\1", path).split(".")
    name = ".".join(word + "_" if word.rstrip("_") in RESERVED else word for word in words)
    return re.sub(r"running_variance$", "running_var", name)


def compare(tbemc, folder, name, options, number):
    text, program, arrays = steps.emitted(tbemc, folder, name, options, number, "pytorch")
    torch.set_default_dtype(torch.float64)
    module = steps.imported(program)
    model = steps.assigned(text, "model", vars(module))
    state = {state_name(path): torch.from_numpy(array) for word in ("weight", "buffer") for path, array in steps.group(arrays, word).items()}
    theirs = {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
    assert theirs == set(state), sorted(theirs ^ set(state))[:6]
    model.load_state_dict(state, strict=False)
    trains = steps.trains(arrays)
    model.train(trains)
    inputs = [torch.from_numpy(array) for array in steps.group(arrays, "input").values()]
    unclipped, utils = {}, torch.nn.utils
    clips = {word: getattr(utils, word) for word in ("clip_grad_norm_", "clip_grad_value_")}

    def clip_later(word, parameters, *limits):
        """Keeps the gradients, which are ours, before they are cut in place."""
        unclipped.update({key: one.grad.clone() for key, one in model.named_parameters() if one.grad is not None})
        return clips[word](parameters, *limits)

    for word in clips:
        setattr(utils, word, functools.partial(clip_later, word))
    outputs = []
    model.register_forward_hook(lambda _, __, output: outputs.append(output))
    differences = {}
    if trains:
        if hasattr(module, "freeze"):
            module.freeze(model)
        word = "optimizers" if hasattr(module, "make_optimizers") else "optimizer"
        optimizer = steps.assigned(text, word, {**vars(module), "model": model})
        updating = [optimizer]
        if "LambdaLR(" in text:
            updating.append(torch.optim.lr_scheduler.LambdaLR(optimizer, module.learning_rate))
        loss = module.step(model, *updating, *inputs, torch.from_numpy(arrays["target"]))
        differences["loss"] = steps.far(arrays["loss"], loss.detach().numpy())
        gradients = {state_name(path): array for path, array in steps.group(arrays, "gradient").items()}
        parameters = dict(model.named_parameters())
        learned = {key for key, one in parameters.items() if one.grad is not None}
        assert learned == set(gradients), sorted(learned ^ set(gradients))[:6]
        theirs = {key: unclipped.get(key, parameters[key].grad).numpy() for key in gradients}
        differences["gradients"] = steps.farthest(gradients, theirs)
        for word, meaning in (("after", "weights after"), ("buffer_after", "buffers after")):
            ours = {state_name(path): array for path, array in steps.group(arrays, word).items()}
            if ours:
                differences[meaning] = steps.farthest(ours, {key: model.state_dict()[key].numpy() for key in ours})
    else:
        with torch.no_grad():
            model(*inputs)
    for word, clip in clips.items():
        setattr(utils, word, clip)
    calls = [output if isinstance(output, tuple) else (output,) for output in outputs]  # several: of micro-batches
    given = [torch.cat(parts) if len(parts) > 1 else parts[0] for parts in zip(*calls)]
    names = [key for key in arrays if re.fullmatch(r"output(_\d+)?", key)]
    assert len(given) == len(names), (len(given), names)
    differences["output"] = max(steps.far(arrays[key], one.detach().numpy()) for key, one in zip(names, given))
    count = sum(parameter.numel() for parameter in model.parameters())
    steps.report(name, differences, count, text)


if __name__ == "__main__":
    steps.main(compare)
