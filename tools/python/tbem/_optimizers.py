"""Optimisers as the language has them: texts as they are, and those of torch.optim by their settings."""
from ._errors import UsageError


def _number(value):
    """0.0003 as a text without an exponent."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (int, float)):
        raise UsageError(f"a setting of the optimiser is {type(value).__name__}, and no number: give the optimiser as a text")
    text = f"{value:.17f}" if "e" in repr(value) else repr(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


# By class: the name here, and for each setting of torch.optim its names here. Settings that are not listed may only have the value
# beside them, which changes nothing of what is computed here.
_WITHOUT = {"maximize": False, "differentiable": False, "capturable": False}
_KINDS = {
    "SGD": ("sgd", {"lr": ("lr",), "momentum": ("momentum",), "dampening": ("dampening",), "nesterov": ("nesterov",),
                    "weight_decay": ("weight_decay",)}),
    "Adam": ("adam", {"lr": ("lr",), "betas": ("beta1", "beta2"), "eps": ("eps",), "weight_decay": ("weight_decay",)}),
    "AdamW": ("adamw", {"lr": ("lr",), "betas": ("beta1", "beta2"), "eps": ("eps",), "weight_decay": ("weight_decay",)}),
    "RMSprop": ("rmsprop", {"lr": ("lr",), "alpha": ("alpha",), "eps": ("eps",), "momentum": ("momentum",),
                            "centered": ("centered",), "weight_decay": ("weight_decay",)}),
    "Adagrad": ("adagrad", {"lr": ("lr",), "lr_decay": ("lr_decay",), "initial_accumulator_value": ("initial",), "eps": ("eps",),
                            "weight_decay": ("weight_decay",)}),
}
_EXECUTION = ("foreach", "fused")


def optimizer_text(optimizer):
    """`sgd(lr: 0.1, momentum: 0.9)` of a text, or of an optimiser of torch.optim. A name alone gets its parentheses; sgd needs `lr`,
    which no number of an estimate depends on."""
    if isinstance(optimizer, str):
        if "(" in optimizer:
            return optimizer
        return f"{optimizer}(lr: 0.01)" if optimizer == "sgd" else f"{optimizer}()"
    texts = [_group_text(optimizer, group) for group in _groups(optimizer)]
    if any(text != texts[0] for text in texts):
        raise UsageError("whose weights the groups of this optimiser have is not known here: give the model itself")
    return texts[0]


def optimizer_texts(optimizer, parameters, paths):
    """The optimiser of most groups, and "TEXT on [weights]" for each other group. `parameters`: the model's, by name; `paths`: those
    that the program reads, by that name."""
    groups = _groups(optimizer)
    names = {id(parameter): name for name, parameter in parameters.items()}
    moved = {id(parameter) for group in groups for parameter in group["params"]}
    foreign = moved - set(names)
    if foreign:
        raise UsageError(f"{len(foreign)} of the weights that the optimiser moves are not the model's")
    kept = [name for name, parameter in parameters.items() if parameter.requires_grad and id(parameter) not in moved and name in paths]
    if kept:
        raise UsageError(f"the optimiser does not move {kept[0]}, whose gradient is computed all the same: freeze it "
                         "(requires_grad_(False))")
    texts = [_group_text(optimizer, group) for group in groups]
    own = max(dict.fromkeys(texts), key=texts.count)
    others = []
    for text, group in zip(texts, groups):
        moves = [names[id(parameter)] for parameter in group["params"] if parameter.requires_grad]
        places = [f'"{paths[name]}"' for name in moves if name in paths]
        if text != own and places:
            others.append(f"{text} on [{', '.join(places)}]")
    return own, others


def _groups(optimizer):
    if type(optimizer).__name__ not in _KINDS or not hasattr(optimizer, "param_groups"):
        raise UsageError(f"the optimiser is {type(optimizer).__name__}: a text such as \"adamw(lr: 0.001)\", or one of torch.optim's "
                         + ", ".join(_KINDS))
    return optimizer.param_groups


def _group_text(optimizer, group):
    kind = type(optimizer).__name__
    name, settings = _KINDS[kind]
    arguments, rest = [], {key: value for key, value in group.items() if key != "params"}
    for setting, names in settings.items():
        if setting in rest:
            value = rest.pop(setting)
            arguments += zip(names, value if len(names) > 1 else (value,))
    decoupled = rest.pop("decoupled_weight_decay", kind == "AdamW")
    if decoupled != (kind == "AdamW"):
        raise UsageError("Adam with decoupled weight decay is adamw: give torch.optim.AdamW")
    for setting, value in rest.items():
        if setting in _EXECUTION or setting.startswith("initial_"):
            continue
        if value not in (None, False) and value != _WITHOUT.get(setting):
            raise UsageError(f"the optimiser's `{setting}={value}` has no counterpart in the language")
    return f"{name}({', '.join(f'{key}: {_number(value)}' for key, value in arguments)})"
