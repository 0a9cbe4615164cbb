"""Takes the steps of one row in a framework and tells what they took: the process of a row that tbemc measures there.

The first argument is the text of meters.py. Standard input is one JSON object, what tbemc says of the row (docs/frameworks.md,
"Measured there"): the file of its program, the framework, and the protocol of tbemc's own rows. Standard output is one JSON object of metrics. The program is the one that
`tbemc emit` writes; its `main` is run up to the first step, so that what it has set up is what is measured.

A framework is a class in FRAMEWORKS; it imports the framework itself.
"""
import functools
import glob
import importlib.util
import json
import math
import os
import sys
import time
import types


class _Begun(Exception):
    """The first step of a program's `main`, in place of which this is raised."""

    def __init__(self, arguments):
        super().__init__()
        self.arguments = arguments


def load_program(path):
    spec = importlib.util.spec_from_file_location("row", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["row"] = module
    spec.loader.exec_module(module)
    return module


def begin(*arguments):
    raise _Begun(arguments)


def first_call(run, owner, name):
    """Runs up to the first call of this function, and gives what it would have been handed."""
    before = getattr(owner, name)
    setattr(owner, name, begin)
    try:
        run()
    except _Begun as begun:
        return begun.arguments
    finally:
        setattr(owner, name, before)
    raise RuntimeError(f"nothing calls `{name}`: the program takes no step")


class Unmeasurable(Exception):
    """Why a row cannot be measured here: it is skipped."""


def is_torch_full(torch, error):
    # The processor's allocator says it with a plain RuntimeError.
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


@functools.cache
def meters():
    module = types.ModuleType("meters")
    exec(compile(sys.argv[1], "meters.py", "exec"), vars(module))  # noqa: S102 - a file of ours, which comes as text
    return module


class PyTorch:
    def __init__(self, row):
        import torch
        self.torch = torch
        self.device = torch.device(row["device"])
        self.compiles = row["compile"]
        torch.set_num_threads(row["threads"])
        torch.manual_seed(row["seed"])

    def is_full(self, error):
        return is_torch_full(self.torch, error)

    def set_up(self, module):
        """A function that takes one step, once model, optimiser and inputs are there."""
        torch = self.torch
        with torch.device(self.device):
            if hasattr(module, "step"):
                take, arguments = module.step, first_call(module.main, module, "step")
                if self.compiles:
                    arguments = (torch.compile(arguments[0]), *arguments[1:])
                step = lambda: take(*arguments)
            else:
                predict = getattr(module, "predict", None)  # of a network in mixed precision
                model, *inputs = first_call(module.main, *((torch.nn.Module, "__call__") if predict is None else (module, "predict")))
                forward = torch.compile(model) if self.compiles else model

                def step():
                    with torch.no_grad():
                        return forward(*inputs) if predict is None else predict(forward, *inputs)
        if self.compiles:
            step()  # nothing is compiled any more when the baseline is read
        self._wait()
        return step

    def _wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize(self.device)

    def finish(self, result):
        """Waits for the step, and gives its loss; None where there is none, or where it is one of many numbers."""
        self._wait()
        is_number = isinstance(result, self.torch.Tensor) and result.numel() == 1
        return result.detach() if is_number else None

    def baseline(self):
        if self.device.type == "cuda":
            self.torch.cuda.reset_peak_memory_stats(self.device)

    def device_metrics(self):
        if self.device.type != "cuda":
            return {}
        cuda = self.torch.cuda
        free, total = cuda.mem_get_info(self.device)
        # The caching allocator keeps its segments, so what is taken at the end is the most that was taken.
        return {"allocated_peak": cuda.max_memory_allocated(self.device), "reserved_peak": cuda.max_memory_reserved(self.device),
                "device_peak": total - free}

    def clock(self):
        return meters().CardClock(self.torch, self.device) if self.device.type == "cuda" else None

    def energy(self, protocol):
        return meters().CardEnergy(self.torch.cuda.current_device(), protocol) if self.device.type == "cuda" else meters().Energy()

    def machine(self):
        return self.torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else ""

    def threads(self):
        return self.torch.get_num_threads()


def threads_called(name):
    """How many threads of this process the kernel knows by this name."""
    count = 0
    for path in glob.glob("/proc/self/task/*/comm"):
        try:
            with open(path) as file:
                count += file.read().strip() == name
        except FileNotFoundError:  # it has ended meanwhile
            continue
    return count


# What Keras computes with, on the processor. Each is made before Keras is imported. `prepare` does what is done once for all steps:
# a model has no weights before Keras sees a batch, and no graph. The baseline is read behind it.

class TensorFlow:
    def __init__(self, threads):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # what it finds at its start is no reason of a row
        import tensorflow
        self.function = type(tensorflow.function(lambda: None))
        self.full = tensorflow.errors.ResourceExhaustedError
        tensorflow.config.set_visible_devices([], "GPU")
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(threads)

    def prepare(self, step, model_class, trains):
        """Traces the step without taking it: its allocator keeps what a step has had, so that no later one would show as memory."""
        function, *arguments = first_call(step, self.function, "__call__")
        function.get_concrete_function(*arguments)

    def is_full(self, error):
        return isinstance(error, self.full)

    def threads(self):
        return threads_called("tf_Compute")


class Jax:
    def __init__(self, threads):
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["PJRT_NPROC"] = str(threads)  # of the pool that XLA computes with; XLA_FLAGS have no number for it

    def prepare(self, step, model_class, trains):
        """Takes a step, which XLA is given at its first call; what the step has had goes back."""
        step()

    def is_full(self, error):
        return "RESOURCE_EXHAUSTED" in str(error)

    def threads(self):
        return threads_called("tf_XLAEigen")


class Torch:
    def __init__(self, threads):
        os.environ["KERAS_TORCH_DEVICE"] = "cpu"
        import torch
        self.torch = torch
        torch.set_num_threads(threads)

    def prepare(self, step, model_class, trains):
        """Makes the weights alone where the model is trained: steps are eager. Prediction has no such moment."""
        if trains:
            first_call(step, model_class, "make_train_function")
        else:
            step()

    def is_full(self, error):
        return is_torch_full(self.torch, error)

    def threads(self):
        return self.torch.get_num_threads()


ENGINES = {"tensorflow": TensorFlow, "jax": Jax, "torch": Torch}


class Keras:
    def __init__(self, row):
        self.name = row["backend"]
        os.environ["KERAS_BACKEND"] = self.name
        self.engine = ENGINES[self.name](row["threads"])
        import keras
        self.keras = keras
        # Not what somebody's keras.json says.
        keras.config.set_floatx("float32")
        keras.config.set_epsilon(1e-7)
        keras.config.set_image_data_format("channels_last")
        self.is_full, self.threads = self.engine.is_full, self.engine.threads

    def set_up(self, module):
        """A function that takes one step, which Keras has compiled."""
        if hasattr(module, "step"):
            arguments = first_call(module.main, module, "step")
            step = lambda: module.step(*arguments)
        else:
            model, inputs = first_call(module.main, self.keras.Model, "__call__")
            step = lambda: model.predict_on_batch(inputs)
        if self.keras.config.floatx() == "float64" and self.name != "tensorflow":
            raise Unmeasurable(f"Keras computes in f32 on {self.name} what is of f64; on tensorflow it does not")
        self.engine.prepare(step, self.keras.Model, hasattr(module, "step"))
        return step

    def finish(self, result):
        """The step's loss, which Keras has waited for; None where there is none."""
        return result if isinstance(result, float) else None

    def baseline(self):
        pass

    def device_metrics(self):
        return {}

    def clock(self):
        return None

    def energy(self, protocol):
        return meters().Energy()

    def machine(self):
        return ""


FRAMEWORKS = {"pytorch": PyTorch, "keras": Keras}


# ---- The protocol, as that of runtime/measure/Protocol.cpp ---------------------------------------------------------------

def timed_steps(step, framework, protocol, energy):
    """The seconds of each timed step, and the last loss."""
    clock = time.perf_counter
    samples, loss = [], None
    energy.start()
    begun = before = looked = clock()
    most = max(protocol["max_steps"], protocol["steps"])
    while len(samples) < most and (len(samples) < protocol["steps"] or before - begun < protocol["min_seconds"]):
        loss = framework.finish(step())
        now = clock()
        samples.append(now - before)
        before = now
        if now - looked > energy.LOOK:
            energy.look()
            looked = before = clock()
    energy.look()
    return samples, loss, before - begun


def not_finite(loss):
    if loss is None:
        return ""
    value = float(loss)
    return "" if math.isfinite(value) else f"{value}"  # "inf", "-inf" or "nan"


def measure(framework, row):
    step = framework.set_up(load_program(row["program"]))
    energy = framework.energy(row["protocol"])
    energy.rest()
    meters().give_back()
    baseline, _ = meters().memory()
    metrics = {"memory_baseline": baseline}
    reason = meters().reset_peak()
    framework.baseline()
    for _ in range(row["protocol"]["warmup"]):
        framework.finish(step())
    samples, loss, seconds = timed_steps(step, framework, row["protocol"], energy)
    metrics |= {"memory_peak": meters().memory()[1], "samples": samples, "loss_not_finite": not_finite(loss)}
    metrics |= energy.metrics(seconds, len(samples)) | framework.device_metrics()
    clock = framework.clock()  # takes memory of its own, which is none of the step's
    if clock is not None:
        metrics["samples"] = clock.samples(step, framework, row["protocol"])
    if reason:
        metrics["memory_reason"] = reason
    if framework.threads() != row["threads"]:
        raise RuntimeError(f"it runs with {framework.threads()} threads, not {row['threads']}")
    if framework.machine():
        metrics["machine"] = f"{framework.machine()}, {row['threads']} threads"
    return metrics


def main():
    sys.path[:] = [folder for folder in sys.path if folder]  # nothing that lies where tbemc was started is imported
    row = json.load(sys.stdin)
    framework = FRAMEWORKS[row["framework"]](row)
    try:
        told = measure(framework, row)
    except Unmeasurable as why:
        told = {"status": "skipped", "reason": str(why)}
    except Exception as error:
        if not isinstance(error, MemoryError) and not framework.is_full(error):
            raise
        told = {"status": "oom", "reason": str(error).partition("\n")[0] or "out of memory"}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
