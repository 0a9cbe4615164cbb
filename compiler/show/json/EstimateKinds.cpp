// Kinds of `estimate`: without and with a device, as PyTorch, and its explanations.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kLibraryFile = text("library_file", "the library's file, where the operator is called in a library").orNull();
constexpr JsonField kLibraryLine = integer("library_line", "the line in that file").orNull();

constexpr JsonField kByOperator[] = {
    flops("forward", "forward"),
    flops("backward", "backward"),
    flops("mac_flops_forward", "of `forward`, those of multiply-adds"),
    flops("mac_flops_backward", "of `backward`, those of multiply-adds"),
    flops("optimizer", "of the update"),
    flops("recomputed", "computed again"),
};
constexpr JsonField kFlops[] = {
    flops("forward", "forward"),
    flops("backward", "backward"),
    flops("optimizer", "of the update"),
    flops("recomputed", "computed again"),
    flops("step", "all of them"),
    count("unknown_operators", "operators whose FLOPs nobody knows; all counts are at least").only("with opaque operators"),
    object("by_operator", "the parts of each operator", kByOperator).keyed("OPERATOR"),
};
constexpr JsonField kPeakAt[] = {
    text("operator", "the operator"),
    text("file", "the user's own file").orNull(),
    integer("line", "the line in it").orNull(),
    text("path", "the path of the block instance"),
    kLibraryFile,
    kLibraryLine,
};
constexpr JsonField kMemory[] = {
    bytes("static", "the largest sum of live tensors of the graph as written, from shapes alone"),
    bytes("live", "the largest sum of live bytes of the lowered program; `null` without a device").orNull(),
    bytes("arena", "what the plan takes; `null` without a device").orNull(),
    bytes("arena_as_written", "the arena in the program's own order of operators").orNull(),
    count("unknown_workspaces", "calls of the program's own code whose workspaces are missing from `live` and `arena`").orNull(),
    object("kinds", "what is live at the peak; without a device, at that of `static`", kKindsOfMemory),
    object("peak_at", "the operator at the peak", kPeakAt).orNull(),
};
constexpr JsonField kAlgorithms[] = {
    count("timed", "operators whose implementations were timed"),
    count("assumed", "operators that were not timed and take the default"),
};
constexpr JsonField kOnDevice[] = {
    text("backend", "the backend's name"), text("name", "the device"),
    text("isa", "its instruction set"),    text("library", "the library that computes"),
    count("threads", "its threads"),       object("algorithms", "how implementations were chosen", kAlgorithms),
};
constexpr JsonField kPaths[] = {
    flops("flops_min", "of the cheapest path"),
    number("flops_expected", "expected; `null` without `--gates`").in(JsonUnit::Flops).orNull(),
    flops("flops_max", "of the dearest path"),
    bytes("memory_min", "the least static memory"),
    bytes("memory_max", "the most static memory"),
    bytes("arena_min", "the least that is touched of the arena").only("on a device"),
    bytes("arena_max", "the most that is touched of the arena").only("on a device"),
    number("arena_expected", "expected").in(JsonUnit::Bytes).only("on a device and with `--gates`"),
    seconds("least_seconds_min", "the least time of the cheapest path").only("with `--roofline`"),
    seconds("least_seconds_max", "of the dearest path").only("with `--roofline`"),
    seconds("least_seconds_expected", "expected").only("with `--roofline` and `--gates`"),
};
constexpr JsonField kRecomputedBlock[] = {
    text("path", "the path of the block instance"),
    text("operators", "what is computed again").listed(),
    count("count", "how many operators"),
    flops("flops", "computed again"),
};
constexpr JsonField kCheckpoint[] = {
    bytes("limit", "that of `auto(under: ..)`, or `null`").orNull(),
    bytes("arena_kept", "the arena without recomputation"),
    bytes("arena", "the arena with recomputation"),
    flops("flops", "computed again"),
    share("share", "of the step's FLOPs"),
    object("blocks", "what is recomputed in each block", kRecomputedBlock).listed(),
};
constexpr JsonField kLeftOut[] = {
    text("type", "the element type"),
    flops("flops", "arithmetic in it"),
    text("operators", "the operators").listed(),
};
constexpr JsonField kStepCost[] = {
    text("operator", "the operator"),           text("file", "the user's own file").orNull(),
    integer("line", "the line in it").orNull(), flops("flops", "of the operator"),
    bytes("bytes_moved", "read and written"),   number("intensity", "their quotient").in(JsonUnit::FlopsPerByte),
    seconds("least_seconds", "the least time"), text("bound", "what bounds it").oneOf("compute memory"),
};
constexpr JsonField kRoofline[] = {
    text("device", "the name of the device"),
    text("products_in", "`tf32`, or `null` for the operators' own types").orNull(),
    flops("flops", "of all operators, whichever branch they stand in; a multiply-add counts as 2"),
    bytes("bytes_moved", "read and written by them"),
    number("intensity", "their quotient").in(JsonUnit::FlopsPerByte),
    seconds("least_seconds", "the sum of the operators' least times; of a network with gates, on its dearest path"),
    seconds("compute_bound_seconds", "of all operators, those that are bound by arithmetic"),
    count("whole_number_operations", "operations without a rate"),
    object("left_out", "arithmetic in types for which the device's record has no rate", kLeftOut).listed(),
    object("operators", "the operators of the step", kStepCost).listed(),
};
constexpr JsonField kBudgets[] = {
    text("budget", "the clause"),
    text("quantity", "what is limited"),
    text("on", "where; `null`: from shapes alone").orNull(),
    number("limit", "in bytes, FLOPs or parameters"),
    number("value", "the row's, in the same unit"),
    truth("at_least", "whether something is missing from the value that nobody knows"),
    truth("holds", "whether the row keeps it"),
    kRow,
};
constexpr JsonField kEstimate[] = {
    kDesign,
    kRow,
    kNetwork,
    kLevels,
    count("parameters", "numbers of weights"),
    count("buffers", "elements of buffers"),
    object("flops", "as `--convention` counts them (by default a multiply-add is 2)", kFlops),
    object("memory", "memory of the step", kMemory),
    object("device", "the device, or `null`", kOnDevice).orNull(),
    object("paths", "least and most over the paths ([gates.md](gates.md))", kPaths).only("for a network with gates"),
    object("checkpoint", "what recomputation costs and saves", kCheckpoint).only("with the clause `checkpoint`"),
    object("roofline", "the least time on a device", kRoofline).only("with `--roofline`"),
    object("budgets", "the budgets of the design", kBudgets).listed().only("with a clause `budget`"),
};

constexpr JsonField kEagerKinds[] = {
    bytes("weights", "weights"),
    bytes("buffers", "buffers"),
    bytes("input", "inputs"),
    bytes("optimizer", "the optimiser's state"),
    bytes("gradients", "gradients of weights"),
    bytes("activations", "activations"),
    bytes("activation gradients", "gradients of activations"),
    bytes("temporaries", "temporaries"),
    bytes("cuDNN workspaces", "workspaces of cuDNN"),
    bytes("cuBLAS workspaces", "workspaces of cuBLAS"),
};
constexpr JsonField kEagerPlace[] = {
    text("phase", "the phase of the step").oneOf("model forward backward optimizer"),
    integer("step", "the step: 1 or 2; 0 before the first"),
    text("operator", "the operator").orNull(),
    text("file", "the user's own file").orNull(),
    integer("line", "the line in it").orNull(),
    text("path", "the path of the block instance").orNull(),
    kLibraryFile,
    kLibraryLine,
    text("origin", "the line of Python that it was written from: `model.py:92`").only("of an imported model"),
};
constexpr JsonField kPart[] = {
    text("part", "what takes it"),
    bytes("bytes", "how much; `null` where it was not measured").orNull(),
    truth("sum", "whether it is the sum of the parts before it"),
};
constexpr JsonField kWaterfall[] = {
    object("peak_at", "the moment of the peak", kEagerPlace),
    object("parts", "the parts in order, and their sums", kPart).listed(),
};
constexpr JsonField kLower[] = {
    bytes("bytes", "the bound"),
    truth("proved", "whether it is proved: it is"),
    bytes("engines", "the part of the distance to the estimate that engines of cuDNN make"),
    bytes("allocator", "the part that the allocator makes"),
};
constexpr JsonField kUpper[] = {
    bytes("bytes", "the bound"),
    truth("proved", "whether it is proved: it is not"),
    bytes("engines", "the part of the distance to the estimate that engines of cuDNN make"),
};
constexpr JsonField kBounds[] = {
    object("lower", "the lower bound", kLower),
    object("upper", "the upper bound; `null` where there is none", kUpper).orNull(),
};
constexpr JsonField kEagerMemory[] = {
    bytes("live", "the largest sum of live tensors"),
    object("kinds", "at that moment", kEagerKinds),
    object("peak_at", "that moment", kEagerPlace),
    bytes("allocated", "as PyTorch reports it").orNull(),
    bytes("reserved", "as PyTorch reports it").orNull(),
    bytes("device", "with what a process holds besides; `null` where something was not measured").orNull(),
    bytes("device_at_least", "with what was measured of that").orNull(),
    object("waterfall", "from tensors to the device, part by part", kWaterfall),
    object("bounds", "what holds for other engines and allocators", kBounds).orNull(),
};
constexpr JsonField kGpu[] = {
    text("name", "the GPU's name"),
    bytes("memory", "its memory"),
    bytes("context", "a CUDA context").orNull(),
    bytes("handles", "handles of libraries").orNull(),
    bytes("kernels", "loaded kernels").orNull(),
};
constexpr JsonField kLimit[] = {
    bytes("bytes", "the limit, after subtractions"),
    bytes("reserve", "what `--reserve` subtracted"),
    truth("upper", "whether the upper bound is compared"),
    truth("reserved", "whether the reserved memory must fit (`:reserved`)"),
    truth("fits", "whether the row fits"),
};
constexpr JsonField kPyTorch[] = {
    kDesign,
    kRow,
    kNetwork,
    kLevels,
    text("device", "where the step runs").oneOf("pytorch pytorch-cpu"),
    object("gpu", "the GPU; `null` without `--device`", kGpu).orNull(),
    text("version", "PyTorch's version"),
    text("alloc_conf", "the allocator's options"),
    text("optimizer", "the optimiser's name"),
    object("memory", "memory of the step; what concerns CUDA is `null` for `pytorch-cpu`", kEagerMemory),
    object("limit", "that of `--max`; `null` without it", kLimit).orNull(),
    text("workspaces", "who was asked about workspaces").orNull(),
    object("budgets", "the budgets of the design", kBudgets).listed().only("with a clause `budget`"),
};

constexpr JsonField kGradients[] = {
    kDesign,
    kRow,
    kLevels,
    truth("kept", "whether all are kept to the end of the step: micro-batches add to them, or `--keep-gradients` asks for it"),
    bytes("bytes", "of all gradients"),
    bytes("live", "of these, the most that are live at once"),
    bytes("arena", "the arena"),
    bytes("arena_kept", "the arena if all gradients were kept"),
};

constexpr JsonField kBeside[] = {
    text("name", "the device's name"),
    bytes("context", "a CUDA context").orNull(),
    bytes("handles", "handles of libraries").orNull(),
    bytes("kernels", "loaded kernels").orNull(),
};
constexpr JsonField kAnswers[] = {
    text("source", "who answers").oneOf("cudnn none"),
    text("version", "cuDNN's version").orNull(),
    text("path", "its file").orNull(),
    text("libcuda", "the driver's library beside it").oneOf("driver stub none").orNull(),
    text("recorded", "what the recorded answers are of").only("without a cuDNN"),
};
constexpr JsonField kEngine[] = {
    integer("engine", "the engine's number").orNull(),
    bytes("workspace", "its workspace"),
    integer("knobs", "its knobs: pairs of type and choice").listed().listed(),
    text("notes", "what cuDNN says of it"),
};
constexpr JsonField kConvolution[] = {
    text("problem", "the convolution in words"),
    text("operator", "the operator"),
    text("file", "the user's own file").orNull(),
    integer("line", "the line in it").orNull(),
    text("paths", "the block instances in which it stands, as in `peak_at`").listed(),
    count("times", "how often it occurs in the step"),
    integer("first", "position of the first engine in `engines`, counted from 0, or `null`").orNull(),
    integer("limited", "position of the first engine within the limit").orNull(),
    integer("next_smaller", "position of the first engine with a smaller workspace than `first`, or `null`").orNull(),
    integer("smallest", "position of the engine with the smallest workspace").orNull(),
    truth("fallback", "whether cuDNN's fallback list was used"),
    text("source", "where the list is from").oneOf("cudnn recorded model"),
    object("engines", "the engines, best first", kEngine).listed(),
};
constexpr JsonField kChoice[] = {
    bytes("workspace", "the largest single workspace"),
    bytes("live", "the largest sum of live bytes of the step"),
    bytes("arena", "the arena of the step"),
};
constexpr JsonField kStep[] = {
    object("first", "with the first engines", kChoice),
    object("limited", "with the first ones within `--workspace-limit`", kChoice).orNull(),
    object("smallest", "with the smallest workspaces", kChoice),
    object("none", "without workspaces", kChoice),
};
constexpr JsonField kWorkspace[] = {
    kDesign,
    kRow,
    kNetwork,
    kLevels,
    object("device", "the GPU", kBeside),
    object("answers", "who was asked", kAnswers),
    text("layout", "the layout of images, as asked"),
    truth("tf32", "whether f32 is multiplied as TF32, as asked"),
    truth("nondeterministic", "whether nondeterministic engines may be taken, as asked"),
    bytes("workspace_limit", "that of `--workspace-limit`; `null` without it").orNull(),
    object("convolutions", "the different convolutions of the step", kConvolution).listed(),
    count("not_asked", "convolutions of element types that cuDNN was not asked about"),
    object("step", "the step's memory for each choice", kStep),
};

constexpr JsonKind kKinds[] = {
    jsonKind("estimate", "One object per row (`tbemc estimate`).", kEstimate),
    jsonKind("pytorch", "One object per row (`tbemc estimate --on pytorch`; [pytorch.md](pytorch.md)).", kPyTorch),
    jsonKind("gradients", "One object per row (`tbemc estimate --explain gradients`).", kGradients),
    jsonKind("workspace",
             "One object per row (`tbemc estimate --explain workspace`; [devices.md](devices.md#workspaces-of-convolutions)).",
             kWorkspace),
};

}  // namespace

std::span<const JsonKind> estimateKinds() { return kKinds; }

}  // namespace tbem::show
