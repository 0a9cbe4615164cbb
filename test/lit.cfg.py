# lit's settings for test/ and examples/: what `%tbemc` and the other words in RUN lines stand for.
import os
import shutil
import subprocess
import sys

import lit.formats
import lit.util

binary = os.environ.get("TBEM_BINARY_DIR", os.path.join(os.path.dirname(__file__), "..", "build", "release"))

config.name = "tbem"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".tbem", ".test"]
config.excludes = ["bad", "unit", "prop", "bench", "inputs", "integration"]
root = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
config.test_exec_root = os.path.join(os.path.realpath(binary), "lit")

python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
config.substitutions.append(("%tbemc", os.path.join(os.path.realpath(binary), "bin", "tbemc")))
config.substitutions.append(("%worker", os.path.join(os.path.realpath(binary), "bin", "tbemc-worker")))
config.substitutions.append(("%libtbem", os.path.join(os.path.realpath(binary), "lib", "libtbem.so.0")))
# A card that interprets PTX (test/card), and cuDNN and cuBLASLt of plain loops (test/standin): before what the machine has.
card = f"LD_LIBRARY_PATH={os.path.join(os.path.realpath(binary), 'card')} CUDA_HOME={os.path.join(os.path.realpath(binary), 'standin')}"
config.substitutions.append(("%on_card", "env " + card))
config.substitutions.append(("%cuda_kernels", os.path.join(os.path.realpath(binary), "cuda")))
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
config.substitutions.append(("%python", python))
config.substitutions.append(("%root", root))
config.substitutions.append((r"\bFileCheck\b", "FileCheck-19 --dump-input-filter=error"))
config.substitutions.append((r"\bnot\b", "/usr/lib/llvm-19/bin/not"))

# Results must not depend on who runs the tests, nor may a test touch that person's caches.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment["NO_COLOR"] = "1"
config.environment["LSAN_OPTIONS"] = f"suppressions={os.path.join(root, 'test', 'leaks.txt')}:print_suppressions=0"
config.environment.pop("COLUMNS", None)  # a pipe: tables of 100 columns, sentences in one line

with open("/proc/cpuinfo") as lines:
    if "avx512bw" in lines.read():
        config.available_features.add("avx512")
if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode == 0:
    config.available_features.add("torch")
# A library with sanitizers is not loaded by a program without them, and their addresses are more than a limit allows.
cache = os.path.join(binary, "CMakeCache.txt")
with open(cache) as lines:
    if "-fsanitize=" not in lines.read():
        config.available_features.add("unsanitized")
# What tools/setup --frameworks has made.
frameworks = os.environ.get("TBEM_FRAMEWORKS") or os.path.join(os.path.expanduser("~"), ".cache", "tbemc", "frameworks")
frameworks_python = os.path.join(frameworks, "bin", "python")
config.substitutions.append(("%frameworks_python", frameworks_python))
if os.path.exists(frameworks_python) and subprocess.run([frameworks_python, "-c", "import torch"], capture_output=True).returncode == 0:
    config.available_features.add("frameworks")
if subprocess.run([python, "-c", "import jsonschema"], capture_output=True).returncode == 0:
    config.available_features.add("jsonschema")
if subprocess.run([python, "-c", "import markdown_it, pygments"], capture_output=True).returncode == 0 and lit.util.which("duk"):
    config.available_features.add("site")  # what makes it, and an engine for the script that searches it
config.available_features.update(tool for tool in ("man", "mandoc") if shutil.which(tool))
# The toolkit's cuDNN answers questions about GPUs that are not there.
toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
if any(os.path.exists(os.path.join(toolkit, folder, "libcudnn.so.9")) for folder in ("lib64", "lib")):
    config.available_features.add("cudnn")
    config.environment["CUDA_HOME"] = toolkit
