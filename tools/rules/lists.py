"""What the rules let pass, and where. Lists of places that do what few should only get shorter; a new place needs a
reason that a reader of the change accepts."""
from rules.limits import Use

USES = [
    Use("includes <omp.h>", "omp", r"#\s*include\s*<WORD\.h>", "ask the backend for its threads",
        ("runtime/backends/cpu/", "compiler/process/OpenMp.cpp")),
    Use("starts, ends or changes a process",
        "fork vfork execv execvp execve execvpe execl execlp execle posix_spawn posix_spawnp setenv unsetenv putenv "
        "mallopt signal sigaction raise kill abort exit quick_exit _exit _Exit",
        # not a member, nor a declaration
        r"(?:(?<!\w)::|\bstd::|\breturn |(?<![\w.>:])(?<![\w>] ))WORD\s*\(",
        "return a value and let the command decide, or use compiler/run, runtime/measure or compiler/support",
        # children; and the program's own process
        ("compiler/spec/prove/Solver.cpp", "runtime/backends/fake/Fake.cpp", "runtime/measure/Spawn.cpp",
         "tools/tbemc/Process.cpp")),
    Use("writes to the terminal",
        "print cout cerr clog puts putchar printf vprintf fprintf vfprintf fputs fputc fwrite perror "
        "printOut printErr writeText writeData writeStyled printFailure printNote",
        r"\bfmt::print\b|\bstd::(?:cout|cerr|clog)\b|(?:\bstd::|(?<!\w)::|(?<![\w.>:]))(?!print\b)WORD\s*\(",
        "return what is to be said and let compiler/show or a command write it",
        ("compiler/diagnostics", "compiler/driver", "compiler/repl/console/LineReader.cpp", "compiler/show", "compiler/support",
         "tools/pack", "tools/worker")),
    Use("has an output of its own", "Out", r"\bshow::WORD\b", "return what is to be said and let a view of compiler/show write it",
        ("compiler/driver", "compiler/driver/commands", "compiler/driver/tools", "compiler/repl/console",
         "compiler/show/measured", "compiler/show/memory", "compiler/show/perturb", "compiler/show/proofs",
         "compiler/show/reference", "compiler/show/rows")),
    Use("reads the environment", "getenv secure_getenv", r"\bWORD\s*\(", "take it as a setting",
        ("compiler/foreign/Python.cpp",
         "compiler/jit/glue/Jit.cpp", "compiler/process/OpenMp.cpp",
         "compiler/run/weights/WeightNames.cpp", "compiler/sema/Modules.cpp", "compiler/show/Console.cpp",
         "compiler/show/WrappedText.cpp", "runtime/backends/fake/Fake.cpp", "runtime/cudnn/Places.cpp",
         "runtime/measure/Meters.cpp",  # where counters are, for every process that measures
         "runtime/report/Table.cpp", "tools/tbemc/Process.cpp")),
    Use("shares ownership", "shared_ptr make_shared", r"\bWORD\b", "let one owner hold it and give others a reference",
        ("compiler/driver/Cli.cpp", "compiler/embed",  # DLPack: whoever has a tensor last ends its memory
         "compiler/experiment/Request.h", "compiler/pytorch/eager/EagerOperators.cpp",
         "compiler/pytorch/eager/EagerOperators.h", "compiler/pytorch/eager/EagerStep.h",
         "compiler/sema/SharedVector.h", "compiler/syntax/parse/Parse.cpp",  # ANTLR takes its error strategy so
         "runtime/backends/cpu/dnnl/DnnlConv.cpp")),
    Use("reads or writes JSON with nlohmann", "nlohmann", r"\bWORD\b",
        "return a struct and let compiler/show or compiler/emit write it",
        ("compiler/devices", "compiler/driver/ImportedProgram.cpp", "compiler/driver/commands", "compiler/driver/tools", "compiler/emit", "compiler/repl/console",
         "compiler/experiment/designs", "compiler/foreign", "compiler/import", "compiler/pytorch/allocator", "compiler/run", "compiler/show",
         "compiler/show/json", "compiler/show/measured", "compiler/show/memory", "compiler/show/perturb", "compiler/show/proofs", "compiler/show/reference", "compiler/show/rows", "compiler/serve/lsp", "compiler/verify", "runtime/data",
         "runtime/measure", "runtime/perturb", "runtime/train")),
]

# Files that comments and pages name and that are not ours.
FOREIGN = [
    # PyTorch's, cuDNN's, Linux's
    "aten/src/ATen/cuda/CublasHandlePool.cpp", "aten/src/ATen/native/cuda/Blas.cpp", "c10/core/AllocatorConfig.cpp",
    "c10/cuda/CUDAAllocatorConfig.cpp", "c10/cuda/CUDACachingAllocator.cpp", "torch/csrc/autograd/engine.cpp",
    "tools/autograd", "cublasLt.h", "cuda.h", "cudnn_graph.h", "dlpack.h", "linux/magic.h",
    # a reader's own
    "a/b.tbem", "net.tbem", "parts/blocks.tbem", "train.py", "file.py", "model.py", "path/to/file.py", "resnet.py",
    "examples/s",  # a rate
]
