// Kinds of `measure`, `regress` and `predict`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kExamples =
    text("examples", "what rows were run over, and by whose weights: \"fashion.test by t\"; \"\": stand-in data");
constexpr JsonField kLatency[] = {
    seconds("median", "the median of the steps' times"),
    seconds("p05", "their 5 % quantile").orNull(),
    seconds("p95", "their 95 % quantile").orNull(),
};
constexpr JsonField kOthers = share("others", "of the time of all processors, what other processes used").orNull();
constexpr JsonField kStolen = share("stolen", "of it, what a hypervisor gave to something else").orNull();
constexpr JsonField kWaited =
    share("waited", "of the time, that in which some process that could run waited for a processor").orNull();
constexpr JsonField kLoad[] = {
    kOthers,
    kStolen,
    kWaited,
    number("average", "processes that run or could, over the last minute, at the end").in(JsonUnit::Count).orNull(),
};
constexpr JsonField kGateShares[] = {
    text("path", "the gate's path"),
    share("true_share", "of the examples that it decided about, those whose condition was true; `null`: it decided about none")
        .orNull(),
};
constexpr JsonField kOverExamples[] = {
    number("mean_flops", "of an example, the mean").in(JsonUnit::Flops),
    number("least_flops", "the least").in(JsonUnit::Flops),
    number("most_flops", "the most").in(JsonUnit::Flops),
    seconds("mean_latency", "of an example: the median time of a batch by its examples, the mean over batches").orNull(),
    seconds("least_latency", "the least").orNull(),
    seconds("most_latency", "the most").orNull(),
    share("accuracy", "of the examples that have a label, those whose class is predicted").orNull(),
    share("coverage", "of the gates' sides, those that some example took; `null` without gates").orNull(),
    number("correlation", "Pearson's, of a batch's FLOPs and its time; `null` where one does not vary").orNull(),
    number("mean_energy",
           "of an example: what a run of its batch takes by its examples, the mean over batches; `null`, here and "
           "below: it was not wanted, or nothing counts it")
        .in(JsonUnit::Joules)
        .orNull(),
    number("least_energy", "the least").in(JsonUnit::Joules).orNull(),
    number("most_energy", "the most").in(JsonUnit::Joules).orNull(),
    number("energy_correlation", "Pearson's, of a batch's FLOPs and its energy; `null` where one does not vary").orNull(),
    number("attacked_flops",
           "of a point that `attack` made of an example, the mean; `null`, here and below: there is no such clause")
        .in(JsonUnit::Flops)
        .orNull(),
    share("increase_mean", "what a point costs more than its example, as a share of that; the mean").orNull(),
    share("headroom", "the share, of what an example could cost more, that its point does; the mean").orNull(),
    share("raised_share", "of the examples, those whose points cost more").orNull(),
    share("attacked_accuracy", "as `accuracy`, of points").orNull(),
    number("psnr", "peak signal-to-noise ratio in dB, in the mean over points that moved").orNull(),
    count("examples", "examples that it was run over"),
    object("gates", "its gates, in program order", kGateShares).listed(),
};
constexpr JsonField kLedger[] = {
    bytes("context", "when the card is opened: its context, and what other processes have"),
    bytes("arena", "by the arena, as the card hands it out, with the guards before and behind it").orNull(),
    bytes("buffers", "by what lies beside the arena: the step's scalars, the word of errors").orNull(),
    bytes("modules", "by kernels that were loaded").orNull(),
    bytes("handles", "by handles of cuDNN and cuBLASLt").orNull(),
    bytes("plans", "by plans of cuDNN").orNull(),
    bytes("late", "by the first step, beside these: code that is loaded as it first runs").orNull(),
    bytes("recordings", "by recorded steps").orNull(),
    bytes("unexplained", "what is left of `device_peak`; below zero where other processes gave memory back").orNull(),
    bytes("process", "what NVML says that the row's process has of the card; `null` where it does not say").orNull(),
};
constexpr JsonField kTiming[] = {
    seconds("host", "the median of as many steps one behind the other, by the host's clock").orNull(),
    count("warmup_steps", "until medians agreed, or it took too long"),
    number("warmup_spread", "by which part of the last median but one the last differed from it").orNull(),
    text("caches", "whether the card's cache was written over in front of each step").oneOf("cold warm"),
    number("clock", "MHz, the least of the multiprocessors' meanwhile").orNull(),
    number("memory_clock", "MHz, the least of the memory's").orNull(),
    number("temperature", "degrees Celsius, the highest").orNull(),
    text(
        "throttled",
        "what kept the clocks down meanwhile, by the names of nvidia-smi, with commas; empty: nothing; `null`: NVML does not say")
        .orNull(),
};
constexpr JsonField kMeasure[] = {
    kDesign,
    kRow,
    kLevels,
    kBackend,
    kTune,
    kExamples,
    integer("repeat", "the repeat, counted from 0"),
    text("status", "how it ended").oneOf("ok oom failed timeout skipped"),
    text("reason", "why it is not `ok`"),
    bytes("memory_peak", "the peak of resident memory ([how it is measured](cli.md#tbemc-measure))").orNull(),
    bytes("memory_baseline", "resident memory when set-up is done").orNull(),
    text("memory_reason", "why they are missing"),
    bytes("allocated_peak", "on a device, the peak of a framework's tensors").orNull(),
    bytes("reserved_peak", "on a device, the peak of what its allocator took").orNull(),
    bytes("device_peak", "on a device, all that is taken, contexts too").orNull(),
    object("ledger",
           "of a row on `cuda`, the parts of `device_peak`, and what nothing explains; a part is `null` where it was not "
           "reached, other processes gave back more, or an earlier version of tbemc measured the row",
           kLedger)
        .orNull(),
    bytes("arena_peak", "the end of the highest allocation that a step touched").orNull(),
    bytes("arena_planned", "the planned arena").orNull(),
    object("arena_kinds",
           "of a row that is planned here, what the arena is made of at its peak; `null` where an earlier version of tbemc "
           "measured it",
           kKindsOfMemory)
        .orNull(),
    bytes("static_memory", "as estimated").orNull(),
    bytes("live", "as estimated").orNull(),
    object("latency", "of a step; of a row on `cuda` by the card's own clock", kLatency).orNull(),
    object("timing",
           "of a row on `cuda`, how its steps were timed; `null` where none was, or an earlier version of tbemc measured the row",
           kTiming)
        .orNull(),
    object("over_examples", "of a row that is run over a data set; `null`: over stand-in data", kOverExamples).orNull(),
    number("energy", "of a step").in(JsonUnit::Joules).orNull(),
    text("energy_reason", "why it is missing"),
    number("energy_dynamic", "of it, what a card takes beyond `idle_power`").in(JsonUnit::Joules).orNull(),
    number("idle_power", "watts of a card at rest before the steps, of which `energy` has its part").orNull(),
    object("load", "what the machine did besides", kLoad),
    text("loss_not_finite",
         "of the loss after the last step; `null` where that is finite or not known. `status` is `ok` all the "
         "same, because time and memory are valid")
        .oneOf("inf -inf nan")
        .orNull(),
    text("identity", "the row's hash"),
    text("machine", "processor or GPU, threads"),
    text("card", "of a row on `cuda`, the UUID of the card that it ran on").orNull(),
    text("versions", "versions of libraries and of the lowering"),
    truth("reused", "whether the measurement was made by an earlier run"),
};

constexpr JsonField kSpread[] = {
    seconds("least", "the least of the repeats' medians"),
    seconds("median", "their median"),
    seconds("most", "the largest"),
};
constexpr JsonField kLoadMost[] = {kOthers, kStolen, kWaited};
constexpr JsonField kMeasured[] = {
    kDesign,
    kRow,
    kLevels,
    kBackend,
    kTune,
    kExamples,
    count("repeats", "repeats that there are"),
    count("asked", "repeats that were requested"),
    bytes("arena_planned", "the planned arena, whatever became of the repeats; `null` for a row that is skipped").orNull(),
    object("latency", "of a step, over the repeats", kSpread).orNull(),
    truth("repeats_differ", "whether these differ by 20 % of their median or more"),
    count("busy_repeats", "repeats that ran on a busy machine"),
    object("load_most", "the largest of each", kLoadMost),
};

constexpr JsonField kLost[] = {
    kRow,
    kLevels,
    text("status", "how its measurements ended"),
    text("reason", "why"),
    count("repeats_used", "the repeats that count"),
    count("repeats", "all repeats"),
};
constexpr JsonField kTerm[] = {
    text("term", "the term"),
    number("coefficient", "its coefficient"),
    number("standard_error", "its standard error; `null` with as many terms as rows").orNull(),
    number("interval", "the ends of its interval, or `null`").listed().orNull(),
};
constexpr JsonField kRaw[] = {
    text("term", "the term in the factors' units"),
    number("coefficient", "its coefficient"),
};
constexpr JsonField kBlock[] = {
    text("card", "its UUID; \"\" of rows that do not say"),
    count("rows", "rows with a repeat there"),
    number("effect", "what it adds to the response, taken out before the fit; `null` where terms and cards cannot be told apart")
        .orNull(),
};
constexpr JsonField kRegress[] = {
    text("name", "the regression's name"),
    kDesign,
    kBackend,
    kTune,
    kExamples,
    object("lost", "rows that count not at all, or with fewer repeats", kLost).listed(),
    object("cards", "of rows that ran on several equal cards, each of these", kBlock).listed(),
    text("response", "the response, as written"),
    object("terms", "the Legendre terms", kTerm).listed(),
    object("raw", "the same model in the factors' units", kRaw).listed(),
    count("rows", "the rows that count"),
    count("parameters", "the terms"),
    share("r2", "R²").orNull(),
    share("adjusted_r2", "R², adjusted").orNull(),
    number("residual_sd", "the residuals' standard deviation, in the response's unit").orNull(),
    number("loo_rmse", "the leave-one-out error, in the response's unit").orNull(),
    share("loo_relative_error", "the leave-one-out error as a share of the mean response").orNull(),
    text("warnings", "what to beware of").listed(),
};

constexpr JsonField kPlaceFit[] = {
    text("place", "the backend, with its setting of `tune`"),
    number("mean", "the mean response over these rows"),
};
constexpr JsonField kContrast[] = {
    text("term", "the term; \"\" of the mean response"),
    text("left", "one place"),
    text("right", "the other"),
    number("difference", "the coefficient of `left` less that of `right`"),
    number("interval", "the ends of its interval; all of an object hold at once with 95 %").listed(),
    truth("differs", "whether 0 is outside it"),
};
constexpr JsonField kCompare[] = {
    text("name", "the regression's name"),
    kDesign,
    text("response", "the response, as written"),
    count("rows", "the rows that all places have"),
    object("fits", "by place, of these rows", kPlaceFit).listed(),
    object("contrasts", "of each pair of places", kContrast).listed(),
    text("reason", "why there are none"),
};

constexpr JsonField kPredict[] = {
    text("name", "the regression's name"),
    kBackend,
    kTune,
    kExamples,
    value("levels", "where: the value of each factor").keyed("FACTOR"),
    number("value", "the prediction, in the response's unit"),
    number("interval", "the ends of the interval of 95 % of new rows, or `null`").listed().orNull(),
    truth("inside", "whether it is inside the measured region"),
};

constexpr JsonField kDryRun[] = {
    count("designs", "the designs"),
    count("cases", "the runs to do"),
    count("skipped", "of these, those that are skipped"),
    count("finished", "runs that the store has, which are not to do"),
    seconds("seconds", "about how long they take, at 50 GFLOP/s"),
    bytes("memory", "the most that a run takes beside the program itself"),
    count("unknown_workspaces", "as in `estimate`"),
    bytes("disk", "what the store takes"),
    text("store", "the store's file"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("measure", "One object per repeat of a row (`tbemc measure`, `tbemc FILE`).", kMeasure),
    jsonKind("measured", "One object per row, at the end of `measure`: its repeats together.", kMeasured),
    jsonKind("regress", "One object per fit (`tbemc regress`; [regression.md](regression.md)).", kRegress),
    jsonKind("compare", "One object per regression that was fitted at two places or more (`tbemc regress`).", kCompare),
    jsonKind("predict", "One object per prediction and fit (`tbemc predict`).", kPredict),
    jsonKind("dry_run", "One object (`--dry-run`).", kDryRun),
};

}  // namespace

std::span<const JsonKind> measureKinds() { return kKinds; }

}  // namespace tbem::show
