// Kinds of `plan`, `replay` and `emit`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kPlan[] = {
    count("buffers", "the buffers"),
    bytes("peak", "what the plan takes"),
    bytes("bound", "the largest sum of live buffers"),
    bytes("proved", "no plan takes less than this").only("without `--verify`"),
    truth("lowest", "whether this plan is the lowest possible").only("without `--verify`"),
    bytes("offsets", "where each buffer lies").keyed("ID").only("without `--verify`"),
    truth("holds", "whether no two buffers share a byte at one step").only("with `--verify`"),
};

constexpr JsonField kPlanDiff[] = {
    bytes("before", "what the first plan takes"),
    bytes("after", "what the second plan takes"),
    text("differences", "the buffers that differ").listed(),
};

constexpr JsonField kCounters[] = {
    bytes("requested", "as the program asked"),
    bytes("allocated", "rounded to blocks"),
    bytes("active", "with blocks that wait for a stream"),
    bytes("reserved", "segments"),
    count("segments", "segments"),
};
constexpr JsonField kEventAt[] = {
    integer("event", "the event's number in the recording"),
    bytes("bytes", "what it allocates"),
    integer("stream", "the stream"),
    text("phase", "the recording's name for that part").orNull(),
    text("place", "the line of the program that was recorded").orNull(),
};
constexpr JsonField kReplayCheck[] = {
    text("verdict", "whether the replay is as recorded").oneOf("equal differs unknown"),
    count("equal", "actions that are equal"),
    text("reason", "why it is not known").only("where it is not known"),
    integer("event", "where they first differ").only("where they differ"),
    text("recorded", "what was recorded there").only("where they differ"),
    text("replayed", "what was replayed there").only("where they differ"),
};
constexpr JsonField kReplay[] = {
    text("file", "the recording's file"),
    text("trace", "the history in it"),
    text("options", "the text of options"),
    truth("recorded", "whether it is the recording's own"),
    text("rules", "the version of PyTorch whose rules are used"),
    count("events", "the events"),
    count("before", "blocks from before the recording"),
    count("emptied", "how often the cache was emptied"),
    bytes("capacity", "of the GPU, or `null`").orNull(),
    object("peak", "the largest values", kCounters),
    bytes("unused_at_peak", "reserved but not handed out"),
    object("end", "the values at the end", kCounters),
    count("device_allocations", "calls to the driver that allocate"),
    count("device_frees", "calls to the driver that free"),
    count("retries", "allocations that were tried again"),
    count("out_of_memory", "allocations that failed"),
    object("out_of_memory_at", "the first that failed, or `null`", kEventAt).orNull(),
    object("reserved_peak_at", "where reserved memory peaks; `null` before the recording", kEventAt).orNull(),
    object("allocated_peak_at", "where allocated memory peaks; `null` before the recording", kEventAt).orNull(),
    text("ignored", "options that change nothing here").listed(),
    object("check", "the replay held against the recording", kReplayCheck).only("where `recorded` is true"),
};

constexpr JsonField kEmit[] = {
    text("as", "the form").oneOf("dot llvm asm pytorch keras"),
    kNetwork,
    text("text", "the network in that form"),
};

constexpr JsonField kInputs = integer("inputs", "positions in `tensors`").orNull().listed();
constexpr JsonField kOutputs = integer("outputs", "positions in `tensors`").orNull().listed();

constexpr JsonField kWeightOf[] = {
    text("path", "its path"),
    integer("value", "the tensor with its value").orNull(),
    integer("gradient", "the tensor with its gradient").orNull(),
    integer("after", "the tensor with its value after the step").orNull(),
};
constexpr JsonField kScalar[] = {
    text("name", "its name"),
    number("value", "its value, or `null` where that is known at run time").orNull(),
};
constexpr JsonField kInit[] = {
    text("kind", "the distribution"),
    number("a", "its first number").orNull(),
    number("b", "its second number").orNull(),
};
constexpr JsonField kStorage[] = {
    text("class", "what it holds").oneOf("weight gradient state buffer activation input constant"),
    text("path", "its path"),
    object("init", "how it is filled", kInit).only("for a weight, buffer or state"),
};
constexpr JsonField kTensor[] = {
    text("name", "its name"),
    text("dtype", "its element type"),
    number("shape", "its sizes").orNull().listed(),
    integer("storage", "position in `storages`"),
};
constexpr JsonField kExpression[] = {
    value("nodes", "each the operation and its operands: numbers of nodes, or what it reads").listed().listed(),
    integer("results", "the nodes that are written").listed(),
    integer("axes", "of each operand, the axes that it has").listed().listed(),
};
constexpr JsonField kOperatorOf[] = {
    text("operator", "the operator's name in the library"),
    text("kind", "what it is").oneOf("native elementwise view skip exit join"),
    text("phase", "the part of the step").oneOf("forward backward optimizer"),
    text("primitive", "the primitive").only("where `kind` is `native`, without an own symbol"),
    text("symbol", "the function of the program's own code").only("for an own operator"),
    text("path", "the path of the block instance"),
    kInputs,
    kOutputs,
    number("attributes", "the primitive's attributes").orNull().listed().keyed("NAME").only("where there are any"),
    number("scalars", "the primitive's scalars").orNull().listed().only("where there are any"),
    object("expression", "what is computed of each element", kExpression).only("where `kind` is `elementwise`"),
    number("flops", "its FLOPs, by part").in(JsonUnit::Flops).orNull().keyed("PART").only("where it has any"),
    integer("regions", "positions in `regions`").listed().only("for a gate"),
    text("at", "the place in the program").orNull(),
};
constexpr JsonField kGraph[] = {
    kNetwork,
    truth("training", "whether gradients and an update belong to it"),
    kInputs,
    kOutputs,
    integer("loss", "the tensor with the loss, or `null`").orNull(),
    object("weights", "the weights", kWeightOf).listed(),
    object("scalars", "the scalars", kScalar).listed(),
    object("storages", "the storages", kStorage).listed(),
    object("tensors", "the tensors", kTensor).listed(),
    object("operators", "the operators, in order", kOperatorOf).listed(),
    integer("regions", "of each region its operators: positions in `operators`").listed().listed(),
};

constexpr JsonKind kKinds[] = {
    jsonKind("plan", "One object (`tbemc plan`).", kPlan),
    jsonKind("plan_diff", "One object (`tbemc plan --diff`).", kPlanDiff),
    jsonKind("replay", "One object per history and text of options (`tbemc replay`; [allocator.md](allocator.md)).", kReplay),
    jsonKind("emit", "One object (`tbemc emit --as dot`, `--as llvm`, `--as asm`, `--as pytorch`, `--as keras`).", kEmit),
    jsonKind("graph", "One object (`tbemc emit --as json`).", kGraph),
};

}  // namespace

std::span<const JsonKind> planKinds() { return kKinds; }

}  // namespace tbem::show
