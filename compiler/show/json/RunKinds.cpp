// Kinds of `step`, `weights` and `train`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kName = text("name", "the training's name");
constexpr JsonField kRate = number("learning_rate", "that of the last step, or `null` where the plan has none").orNull();

constexpr JsonField kGate[] = {
    text("path", "the path of the gate"),
    text("kind", "what the gate is").oneOf("skip exit"),
    count("reached", "samples that reached it"),
    count("taken", "samples that left or skipped there"),
};
constexpr JsonField kNotFinite[] = {
    text("array", "the array, named as `--save` names it"),
    count("count", "its numbers that are not finite"),
    count("of", "all its numbers"),
};
constexpr JsonField kLatency[] = {
    seconds("median", "the median"),
    seconds("p05", "the 5 % quantile"),
    seconds("p95", "the 95 % quantile"),
};
constexpr JsonField kStep[] = {
    kNetwork,
    kDesign,
    kRow,
    kLevels,
    kBackend,
    number("loss", "the loss, or `null` where the network has none").orNull(),
    seconds("seconds", "of the step"),
    text("saved", "the file, or `null`").orNull(),
    object("gates", "what the gates decided", kGate).listed().only("for a network with gates"),
    flops("flops_executed", "of the branches that ran").only("for a network with gates"),
    object(
        "not_finite",
        "arrays with numbers that are not finite. For a step that is timed (`--repeat`, `--profile`) and not saved, only arrays "
        "that live to its end: weights, buffers and the loss",
        kNotFinite)
        .listed(),
    object("latency", "of the further steps", kLatency).only("with `--repeat`"),
};

constexpr JsonField kProfileStep[] = {
    text("name", "what runs"),
    text("path", "the path of the block instance"),
    text("from", "the place in the program"),
    seconds("seconds", "the median of its times"),
    number("flops", "of its operators").in(JsonUnit::Flops),
    bytes("bytes", "its operands"),
    text("implementation", "the library's name for it, or `loop`"),
};
constexpr JsonField kProfile[] = {
    kNetwork,
    kDesign,
    kRow,
    kLevels,
    kBackend,
    count("threads", "its threads"),
    count("repeats", "the steps that were timed"),
    seconds("seconds", "the median of the whole steps"),
    object("steps", "the parts of the step, in order", kProfileStep).listed(),
};

constexpr JsonField kWeight[] = {
    text("group", "what it is; `null` for an array of a file").oneOf("weight buffer").orNull(),
    text("name", "its path"),
    count("shape", "its sizes").listed(),
    text("dtype", "its element type"),
    bytes("bytes", "what it takes"),
};

constexpr JsonField kAgainstArray[] = {
    text("verdict", "what becomes of it ([weights.md](weights.md#a-network-against-a-file))")
        .oneOf("same converted unused unknown twice misshapen unheld missing"),
    text("array", "its name in the file, or `null` where it is missing").orNull(),
    count("file_shape", "its sizes in the file").listed().orNull(),
    text("file_dtype", "its element type in the file").orNull(),
    text("path", "its path in the network, or `null` where it has none").orNull(),
    count("shape", "its sizes in the network").listed().orNull(),
    text("dtype", "its element type in the network").orNull(),
    text("hint", "of an unknown one the closest path; of an unheld one which value, and where").orNull(),
};
constexpr JsonField kAgainst[] = {
    kNetwork,
    kDesign,
    kRow,
    kLevels,
    text("file", "the file of arrays"),
    truth("fits", "whether `step --load` takes the file without `--partial`"),
    text("prefix", "what all names of the file have and are read without, or an empty text"),
    object("arrays", "the file's arrays, and what the file lacks", kAgainstArray).listed(),
};

constexpr JsonField kTrain[] = {
    kName,
    integer("epoch", "the epoch, counted from 1"),
    count("steps", "the steps since the beginning"),
    number("loss", "the mean loss of its steps"),
    share("accuracy", "the accuracy of its steps, where the loss has one").orNull(),
    number("validation_loss", "the loss on the examples for validation").orNull(),
    share("validation_accuracy", "the accuracy on them").orNull(),
    number("validation_flops", "of one of them and its loss, in the mean").in(JsonUnit::Flops).only("for a network with gates"),
    number("turns", "the mean loss of each clause `turn`").listed().only("for a training that has any"),
    truth("best", "whether its validation loss is the lowest so far"),
    kRate,
    seconds("seconds", "of its steps, without validation"),
    number("examples_per_second", "its speed"),
};

constexpr JsonField kTrainStep[] = {
    kName,
    integer("step", "the step, counted from 1"),
    number("loss", "the loss before its update"),
    kRate,
};

constexpr JsonField kTrained[] = {
    kName,
    text("network", "the network, as written"),
    text("data", "the dataset's name"),
    kBackend,
    text("status", "how it ended").oneOf("finished stopped_early interrupted"),
    count("epochs", "the epochs"),
    count("steps", "the steps"),
    integer("best_epoch", "the epoch with the lowest validation loss, or `null`").orNull(),
    number("test_loss", "the loss on the examples for the test").orNull(),
    share("test_accuracy", "the accuracy on them").orNull(),
    number("test_flops", "of one of them and its loss, in the mean").in(JsonUnit::Flops).only("for a network with gates"),
    object("test_gates", "what the gates did with them", kGate).listed().only("for a network with gates"),
    number("loss_scale", "what the loss is multiplied by at the end").only("with `mixed f16`"),
    count("overflowed_steps", "steps that moved no weight, since gradients were not finite").only("with `mixed f16`"),
    seconds("seconds", "of all steps"),
    truth("resumed", "whether it began from a checkpoint"),
    truth("reused", "whether it had ended before, so that nothing was run"),
    text("checkpoint", "the file, or `null`").orNull(),
};

constexpr JsonField kTraining[] = {
    kName,
    text("network", "the network, as written"),
    text("data", "the dataset's name"),
    count("batch", "examples of a step"),
    count("examples", "examples of an epoch"),
    count("validation", "examples for validation"),
    count("test", "examples for the test"),
    count("steps_per_epoch", "steps of an epoch"),
    count("steps", "steps in all"),
    number("flops", "of all steps, without validation and test").in(JsonUnit::Flops),
    number("hardening_flops", "of what moves examples before the steps").in(JsonUnit::Flops).only("with a clause `harden`"),
    bytes("hardened_arena", "the arena of all its functions").orNull().only("with a clause `harden`"),
    number("turns_flops", "of the steps of all turns").in(JsonUnit::Flops).only("with a clause `turn`"),
    bytes("turns_arena", "the arena of all its functions").orNull().only("with a clause `turn`"),
};

constexpr JsonField kLibrary[] = {
    text("path", "the library's file"),
    text("sha256", "the hash of its content"),
    truth("told_before", "false the first time that this user opens this content"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("step", "One object (`tbemc step`).", kStep),
    jsonKind("profile", "One object (`tbemc step --profile`).", kProfile),
    jsonKind("weight", "One object per array (`tbemc weights`).", kWeight),
    jsonKind("against", "One object (`tbemc weights --against`).", kAgainst),
    jsonKind("train", "One object per epoch (`tbemc train`).", kTrain),
    jsonKind("train_step", "One object per reported step (clause `every`).", kTrainStep),
    jsonKind("trained", "One object at the end of a training.", kTrained),
    jsonKind("training", "One object per training (with `estimate`).", kTraining),
    jsonKind("library",
             "One object for each library of the program's own operators that is opened (`run`, `measure`, `step`, `train`, "
             "`perturb`).",
             kLibrary),
};

}  // namespace

std::span<const JsonKind> runKinds() { return kKinds; }

}  // namespace tbem::show
