#!/usr/bin/env python3
"""Training steps of torchvision's networks on a GPU, compared with what `tbemc --on pytorch` said of them before.

  pytorch_on_card.py predict TBEMC --device h200 [--cudnn DIR] [--torch 2.11] > cases.json     no GPU is needed
  pytorch_on_card.py run cases.json [--seconds 300] > RESULTS.jsonl                            on the card; needs torch and torchvision
  pytorch_on_card.py summary RESULTS.jsonl                                                     what agreed, and what did not

Two kinds of cases. Of a *step*, the peaks of allocated and reserved memory are compared over two steps, in a process of its own that
starts CUDA itself. Of a *limit*, `tbemc fit` names the largest batch that fits an allocator of so many bytes, and one
above which none fits; the card is asked to take three steps at the first and at one more than the second, the allocator being limited (`per_process_memory_fraction`).
Cross entropy; gradients are set to None before each step. A prediction is never read by what measures.
"""
import argparse
import concurrent.futures
import contextlib
import datetime
import gzip
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback

# torchvision's name: our template, and what torchvision's code writes over its operands
NETWORKS = {
    "resnet18": ("resnet(depth: 18)", "all"), "resnet34": ("resnet(depth: 34)", "all"), "resnet50": ("resnet(depth: 50)", "all"),
    "resnet101": ("resnet(depth: 101)", "all"), "resnext50_32x4d": ("resnext()", "all"), "wide_resnet50_2": ("wide_resnet()", "all"),
    "vgg11": ("vgg(depth: 11)", "activations"), "vgg16": ("vgg(depth: 16)", "activations"), "vgg16_bn": ("vgg(depth: 16, norm: true)", "activations"),
    "alexnet": ("alexnet()", "activations"), "mobilenet_v2": ("mobilenet_v2()", "activations"), "mobilenet_v3_large": ("mobilenet_v3()", "all"),
    "mnasnet1_0": ("mnasnet()", "activations"), "densenet121": ("densenet()", "activations"), "densenet169": ("densenet(depth: 169)", "activations"),
    "squeezenet1_1": ("squeezenet()", "activations"), "shufflenet_v2_x1_0": ("shufflenet_v2()", "activations"),
    "efficientnet_b0": ("efficientnet()", "all"), "efficientnet_v2_s": ("efficientnet_v2()", "all"), "convnext_tiny": ("convnext()", "all"),
    "vit_b_16": ("vit(dropout: 0)", "none"), "swin_t": ("swin()", "none"),
}
OPTIMIZERS = {"sgd": "sgd(lr: 0.01)", "momentum": "sgd(lr: 0.01, momentum: 0.9)", "adam": "adam()", "adamw fused": "adamw()"}


def case(network, batch, optimizer, size=224, **more):
    return {"network": network, "batch": batch, "size": size, "optimizer": optimizer, **more}


STEPS = [
    case("resnet50", 32, "momentum"), case("vit_b_16", 16, "adamw fused"), case("vgg16", 32, "momentum"), case("densenet121", 32, "momentum"),
    case("mobilenet_v2", 64, "adam"), case("efficientnet_b0", 32, "adam"), case("resnet18", 64, "sgd"), case("convnext_tiny", 16, "adamw fused"),
    case("alexnet", 128, "adam"), case("squeezenet1_1", 64, "momentum"), case("shufflenet_v2_x1_0", 64, "momentum"), case("resnext50_32x4d", 16, "momentum"),
    case("mobilenet_v3_large", 64, "momentum"), case("vgg11", 16, "adam"), case("vgg16_bn", 16, "momentum"), case("resnet101", 16, "adam"),
    case("resnet18", 128, "adam", size=32), case("resnet50", 1, "momentum"), case("resnet50", 64, "adam"),
    case("resnet34", 48, "adam"), case("wide_resnet50_2", 24, "momentum"), case("mnasnet1_0", 48, "momentum"), case("densenet169", 16, "adam"),
    case("efficientnet_v2_s", 16, "momentum"), case("swin_t", 16, "adamw fused"),
    *[case(network, 32, "momentum", mixed=True) for network in ("resnet50", "vgg16_bn", "mobilenet_v2", "densenet121", "resnext50_32x4d", "alexnet")],
    *[case(network, 16, "adamw fused", mixed=True) for network in ("vit_b_16", "convnext_tiny")],
    *[case(network, 32, "momentum", layout="nhwc") for network in ("resnet50", "vgg16_bn", "mobilenet_v2", "resnext50_32x4d")],
    *[case(network, 32, "momentum", mixed=True, layout="nhwc") for network in ("resnet50", "vgg16_bn", "densenet121")],
    *[case(network, 32, "momentum", tf32="off") for network in ("resnet50", "vgg16")],
    *[case(network, 32, "momentum", alloc_conf="expandable_segments:True") for network in ("resnet50", "vit_b_16", "densenet121", "vgg16")],
    *[case(network, 32, "momentum", alloc_conf="max_split_size_mb:64") for network in ("resnet50", "densenet121")],
    case("resnet50", 32, "momentum", alloc_conf="roundup_power2_divisions:4"),
]
LIMITS = [
    case("resnet50", None, "momentum", limit="8GiB"), case("vit_b_16", None, "adamw fused", limit="16GiB"), case("densenet121", None, "momentum", limit="8GiB"),
    case("vgg16", None, "momentum", limit="16GiB"), case("mobilenet_v2", None, "adam", limit="8GiB"), case("resnet18", None, "sgd", limit="4GiB"),
    case("convnext_tiny", None, "adamw fused", limit="12GiB"), case("efficientnet_b0", None, "adam", limit="8GiB"), case("alexnet", None, "adam", limit="4GiB"),
    case("squeezenet1_1", None, "momentum", limit="4GiB"), case("shufflenet_v2_x1_0", None, "momentum", limit="4GiB"),
    case("resnext50_32x4d", None, "momentum", limit="12GiB"), case("mobilenet_v3_large", None, "momentum", limit="8GiB"),
    case("vgg16_bn", None, "momentum", limit="24GiB"), case("resnet101", None, "adam", limit="24GiB"), case("resnet50", None, "adam", limit="40GiB"),
    case("resnet34", None, "adam", limit="6GiB"), case("wide_resnet50_2", None, "momentum", limit="10GiB"), case("mnasnet1_0", None, "momentum", limit="6GiB"),
    case("densenet169", None, "adam", limit="12GiB"), case("swin_t", None, "adamw fused", limit="6GiB"),
    case("resnet50", None, "momentum", limit="8GiB", alloc_conf="expandable_segments:True"),
    case("vit_b_16", None, "momentum", limit="8GiB", alloc_conf="expandable_segments:True"),
    case("resnet50", None, "momentum", limit="8GiB", mixed=True), case("vit_b_16", None, "adamw fused", limit="8GiB", mixed=True),
    case("resnet50", None, "momentum", limit="8GiB", layout="nhwc", mixed=True),
]


def bytes_of(text):
    return int(text.removesuffix("GiB")) << 30


# -- before ---------------------------------------------------------------------------------------------------------------------

def predict(given):
    shared = ["--on", "pytorch", "--device", given.device, "--torch", given.torch, "--json", *(["--cudnn", given.cudnn] if given.cudnn else [])]

    def ask(command, case, more):
        template, in_place = NETWORKS[case["network"]]
        design = (f"design d of {template} {{\n {'factor batch: 1' if case['batch'] is None else ''}\n"
                  f" input image: [{case['batch'] or 'batch'}, 3, {case['size']}, {case['size']}]\n"
                  f" task train(loss: cross_entropy, optimizer: {OPTIMIZERS[case['optimizer']]})\n {'mixed bf16' if case.get('mixed') else ''}\n}}")
        call = [given.tbemc, command, "-e", design, *shared, *more, "--in-place", in_place]
        for option, name in (("--layout", "layout"), ("--tf32", "tf32"), ("--alloc-conf", "alloc_conf")):
            call += [option, case[name]] if name in case else []
        call += ["--update", "fused"] if "fused" in case["optimizer"] else []
        answer = subprocess.run(call, capture_output=True, text=True)
        if answer.returncode not in (0, 5):
            sys.exit(f"{' '.join(call)}\n{answer.stderr}{answer.stdout}")
        return json.loads(answer.stdout.splitlines()[-1])

    def predicted(case):
        if "limit" in case:
            answer = ask("fit", case, ["--max", case["limit"]])
            return {name: answer[name] for name in ("largest", "none_above", "memory", "failing", "reason")}
        answer = ask("estimate", case, [])
        return {"workspaces": answer["workspaces"], **{name: answer["memory"][name] for name in ("live", "allocated", "reserved", "kinds", "peak_at", "bounds")}}

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        cases = [{**case, "predicted": answer} for case, answer in zip([*STEPS, *LIMITS], pool.map(predicted, [*STEPS, *LIMITS]))]
    json.dump({"predicted": datetime.date.today().isoformat(), "device": given.device, "torch": given.torch, "cases": cases}, sys.stdout, indent=1)


# -- on the card ----------------------------------------------------------------------------------------------------------------

def optimizer_of(torch, name, parameters):
    return {"sgd": lambda: torch.optim.SGD(parameters, lr=0.01), "momentum": lambda: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
            "adam": lambda: torch.optim.Adam(parameters), "adamw fused": lambda: torch.optim.AdamW(parameters, fused=True)}[name]()


def take_steps(case, batch, count, history=None):
    """Peaks and meters of so many steps; `oom` is the step in which memory was not enough. The allocator's events go to `history`."""
    import torch
    import torchvision
    cuda = torch.cuda
    torch.backends.cudnn.allow_tf32 = case.get("tf32", "on") == "on"
    torch.manual_seed(0)
    cuda.init()
    if history:
        cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1_000_000)
    total = cuda.mem_get_info()[1]
    if "limit" in case:  # a little more than the limit, less than a segment: the product is rounded
        cuda.set_per_process_memory_fraction((bytes_of(case["limit"]) + 4096) / total)
    model = getattr(torchvision.models, case["network"])(weights=None).train()
    for module in model.modules():  # our prediction is without: a mask would be drawn for each
        if case["network"].startswith("vit") and isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    layout = torch.channels_last if case.get("layout") == "nhwc" else torch.contiguous_format
    seen, phases, step = {"steps": []}, {}, 0
    try:
        model = model.to("cuda").to(memory_format=layout)
        optimizer = optimizer_of(torch, case["optimizer"], model.parameters())
        image = torch.randn(batch, 3, case["size"], case["size"]).to("cuda").contiguous(memory_format=layout)
        labels = torch.randint(0, 1000, (batch,)).to("cuda")
        for step in range(1, count + 1):
            cuda.synchronize()
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.bfloat16) if case.get("mixed") else contextlib.nullcontext():
                loss = torch.nn.functional.cross_entropy(model(image), labels)
            loss.backward()
            optimizer.step()
            cuda.synchronize()
            stats = cuda.memory_stats()
            seen["steps"].append({"seconds": time.perf_counter() - start, "requested": stats["requested_bytes.all.peak"],
                                  "active": stats["active_bytes.all.peak"], "allocated": cuda.max_memory_allocated(), "reserved": cuda.max_memory_reserved(),
                                  "retries": stats["num_alloc_retries"], "free": cuda.mem_get_info()[0]})
            phases[f"step {step}"] = traced(torch) if history else 0
    except torch.OutOfMemoryError as error:
        seen["oom"] = {"step": step, "message": str(error).split(" See documentation")[0]}
    if history:
        write_history(torch, {**case, "batch": batch}, phases, history)
    seen.update(batch=batch, versions={"torch": torch.__version__, "torchvision": torchvision.__version__, "cuda": torch.version.cuda,
                                       "cudnn": torch.backends.cudnn.version()}, device={"name": cuda.get_device_name(), "total": total})
    return seen


def traced(torch):
    return sum(map(len, torch.cuda.memory._snapshot()["device_traces"]))


def write_history(torch, case, phases, path):
    """A line of JSON that `tbemc replay` reads."""
    snapshot = torch.cuda.memory._snapshot()
    events = max(snapshot["device_traces"], key=len, default=[])
    actions = list(dict.fromkeys(event["action"] for event in events))
    history = {"case": case, "torch": torch.__version__, "settings": snapshot["allocator_settings"], "actions": actions, "phases": phases,
               "events": [[actions.index(event["action"]), event.get("addr", 0), event.get("size", 0), event.get("stream", 0)] for event in events]}
    with gzip.open(path, "at") as file:
        file.write(json.dumps(history, separators=(",", ":")) + "\n")


def in_process(case, batch, count, history=None):
    """The same in an interpreter of its own: PyTorch reads the allocator's options when it is loaded."""
    setting = {"PYTORCH_ALLOC_CONF": case["alloc_conf"], "PYTORCH_CUDA_ALLOC_CONF": case["alloc_conf"]}
    child = subprocess.run([sys.executable, __file__, "one", json.dumps([case, batch, count, history])], env={**os.environ, **setting}, capture_output=True, text=True)
    if child.returncode != 0:
        raise RuntimeError(child.stderr[-1500:])
    return json.loads(child.stdout.splitlines()[-1])


def in_child(work, seconds):
    """work() in a forked process; whatever happens there comes back as a dictionary."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            result = work()
        except BaseException as error:  # the case's result, not an end of the run
            result = {"error": f"{type(error).__name__}: {error}"[:2000], "where": traceback.format_exc().strip().splitlines()[-6:]}
        with os.fdopen(write, "w") as file:
            json.dump(result, file)
        os._exit(0)
    os.close(write)
    text, end = b"", time.monotonic() + seconds
    while select.select([read], [], [], max(0, end - time.monotonic()))[0]:
        part = os.read(read, 1 << 16)
        if not part:
            break
        text += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read)
    _, status = os.waitpid(child, 0)
    try:
        return json.loads(text)
    except ValueError:
        return {"error": f"the child ended with status {status} after at most {seconds:.0f} s"}


def try_steps(case, batch, seconds, history=None):
    """Three steps of a limit's case, two of a step's, in a process of their own."""
    work = in_process if "alloc_conf" in case else take_steps
    return in_child(lambda: work(case, batch, 3 if "limit" in case else 2, history), seconds)


def run(given):
    with open(given.cases) as file:
        told = json.load(file)
    steps = [case for case in told["cases"] if "limit" not in case]
    limits = [case for case in told["cases"] if "limit" in case]
    order = [case for pair in zip(steps, limits) for case in pair]
    order += [case for case in [*steps, *limits] if case not in order]
    end, left_out, searched = time.monotonic() + given.seconds, 0, []
    import torchvision  # noqa: F401  once for all children; it starts no CUDA
    header = {**{name: value for name, value in told.items() if name != "cases"}, "date": datetime.date.today().isoformat(), "driver": driver()}
    print(json.dumps(header), flush=True)
    for case in order:
        asked = {name: value for name, value in case.items() if name != "predicted"}
        batches = [case["batch"]] if "limit" not in case else [case["predicted"]["largest"], case["predicted"]["none_above"] + 1]
        seen = []
        for batch in batches:
            left = end - time.monotonic()
            if left < 8:
                break
            history = given.history if "limit" not in case else None
            seen.append(try_steps(asked, batch, min(60, left), history))
            print(f"{given.seconds - left:5.0f} s {case['network']} {batch} {case.get('limit', '')}: "
                  + json.dumps(seen[-1].get("error") or seen[-1].get("oom") or seen[-1]["steps"][-1]), file=sys.stderr, flush=True)
        if len(seen) < len(batches):
            left_out += 1
            continue
        print(json.dumps({**case, "seen": seen}), flush=True)
        if "limit" in case:
            searched.append((asked, {try_["batch"]: "oom" not in try_ for try_ in seen if "error" not in try_}))
    for asked, runs in searched:
        if end - time.monotonic() > 60:
            print(json.dumps({**asked, "largest_that_runs": narrow(asked, runs), "tried": sorted(runs.items())}), flush=True)
    print(json.dumps({"left_out": left_out}))


def narrow(case, runs):
    """The largest batch that runs, by halving what lies between one that does and one that does not; None where six tries do not say."""
    for _ in range(6):
        fine = max((batch for batch, ran in runs.items() if ran), default=None)
        full = min((batch for batch, ran in runs.items() if not ran and batch > (fine or 0)), default=None)
        if fine is not None and full == fine + 1:
            return fine
        lowest, highest = min(runs), max(runs)
        batch = (fine + full) // 2 if fine and full else lowest - max(1, lowest // 32) if fine is None else highest + max(1, highest // 32)
        result = try_steps(case, batch, 60)
        if "error" in result:
            return None
        runs[batch] = "oom" not in result
    return None


def driver():
    tool = shutil.which("nvidia-smi")
    asked = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip() if tool else None


# -- after ----------------------------------------------------------------------------------------------------------------------

def summary(given):
    with open(given.results) as file:
        lines = [json.loads(line) for line in file]
    rows = [line for line in lines if "seen" in line]
    print(f"{lines[0]['driver']}; {len(rows)} cases; left out for time: {lines[-1].get('left_out', 'it did not end')}")
    def limit_of(line):
        return tuple(line.get(key) for key in ("network", "optimizer", "limit", "alloc_conf", "mixed", "layout"))

    really = {limit_of(line): line["largest_that_runs"] for line in lines if "largest_that_runs" in line}
    for row in rows:
        name = f"{row['network']} " + ", ".join(str(row[key]) for key in ("batch", "size", "optimizer", "layout", "tf32", "alloc_conf", "limit") if row.get(key)) \
               + (", mixed" if row.get("mixed") else "")
        errors = [seen["error"] for seen in row["seen"] if "error" in seen]
        if errors:
            print(f"{name}: {errors[0]}")
        elif "limit" in row:
            below, above = row["seen"]
            print(f"{name}: {below['batch']} {'does NOT run' if 'oom' in below else 'runs'}, {above['batch']} {'does not' if 'oom' in above else 'RUNS too'};"
                  f" the largest that runs: {really.get(limit_of(row), 'not searched')}")
        elif "oom" in row["seen"][0]:
            print(f"{name}: out of memory, {row['seen'][0]['oom']['message']}")
        else:
            last, predicted = row["seen"][0]["steps"][-1], row["predicted"]
            print(f"{name}: allocated {predicted['allocated']} - {last['allocated']} = {predicted['allocated'] - last['allocated']}"
                  f" ({100 * (predicted['allocated'] / last['allocated'] - 1):+.2f} %), reserved {predicted['reserved'] - last['reserved']} of {last['reserved']}"
                  f" ({100 * (predicted['reserved'] / last['reserved'] - 1):+.2f} %)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    predicts = commands.add_parser("predict")
    predicts.add_argument("tbemc")
    predicts.add_argument("--device", required=True)
    predicts.add_argument("--cudnn")
    predicts.add_argument("--torch", default="2.11")
    predicts.add_argument("--jobs", type=int, default=os.cpu_count())
    predicts.set_defaults(work=predict)
    runs = commands.add_parser("run")
    runs.add_argument("cases")
    runs.add_argument("--seconds", type=float, default=300)
    runs.add_argument("--history", metavar="FILE.gz", help="the allocator's events of every step case, for `tbemc replay`")
    runs.set_defaults(work=run)
    alone = commands.add_parser("one")
    alone.add_argument("case")
    alone.set_defaults(work=lambda given: print(json.dumps(take_steps(*json.loads(given.case)))))
    shows = commands.add_parser("summary")
    shows.add_argument("results")
    shows.set_defaults(work=summary)
    given = parser.parse_args()
    given.work(given)


if __name__ == "__main__":
    main()
