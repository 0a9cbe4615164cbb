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
    kind = type(optimizer).__name__
    if kind not in _KINDS or not hasattr(optimizer, "param_groups"):
        raise UsageError(f"the optimiser is {kind}: a text such as \"adamw(lr: 0.001)\", or one of torch.optim's "
                         + ", ".join(_KINDS))
    name, settings = _KINDS[kind]
    groups = [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]
    if any(group != groups[0] for group in groups):
        raise UsageError("groups of weights with settings of their own are not part of the language: give the optimiser as a text")
    arguments, rest = [], dict(groups[0])
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
