// Kinds of `fit`, `what-if` and `screen`, and of the devices that they ask about.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kFit[] = {
    kDesign,
    value("levels", "the levels of the other factors").keyed("FACTOR"),
    text("factor", "the factor that varies"),
    kBackend,
    bytes("limit", "the memory, after subtractions"),
    bytes("reserve", "what `--reserve` subtracted"),
    truth("upper", "whether the upper bound is compared"),
    integer("largest", "the largest level that fits, or `null`").orNull(),
    integer("none_above", "no level above it can fit; `null` where that is not known (only with a GPU)").orNull(),
    bytes("memory", "what `largest` takes").orNull(),
    integer("failing", "the first level that does not fit; `null` where all up to 2^24 fit or a bound ends them").orNull(),
    text("reason", "why it does not fit").orNull(),
    integer("checked_from", "every level from here to `failing` was tried").orNull(),
    count("tried", "the levels tried"),
    integer("bound", "the first level that cannot be built").orNull(),
    text("bounded_by", "why it cannot").orNull(),
    truth("ended_by_work", "whether the limit of work was reached"),
    count("unknown_workspaces", "as in `estimate`").only("not with PyTorch"),
};

constexpr JsonField kWhatIf[] = {
    kDesign,
    kRow,
    kLevels,
    text("question", "which of the two tables").oneOf("device change"),
    text("name", "of the device or the change"),
    bytes("allocated", "the peak of allocated memory"),
    bytes("reserved", "the peak of reserved memory"),
    bytes("takes", "`reserved`, plus what the device's record says was measured beside it, plus `--reserve`"),
    bytes("reserve", "that of `--reserve`"),
    truth("complete", "whether `takes` is everything"),
    bytes("memory", "what the device has").only("for a `device`"),
    bytes("headroom", "what is left of it; negative where it does not fit").only("for a `device`"),
    truth("fits", "whether the row fits").only("for a `device`"),
    integer("largest", "the largest level of the factor that varies").orNull().only("for a `device`"),
    text("bounded_by", "why the next level cannot be built, where that ends the search").orNull().only("for a `device`"),
    bytes("difference", "to `takes` without a change").only("for a `change`"),
};

constexpr JsonField kEffect[] = {
    text("factor", "the factor"),
    share("share", "its main effect's share of `squares`"),
    number("squares", "its main effect's sum of squares"),
    share("total", "with its interactions; `null` without a grid").orNull(),
    number("range", "the range of the means"),
    text("levels", "its levels").listed(),
    number("means", "the mean response at each level; `null` for a level in no row").orNull().listed(),
};
constexpr JsonField kInteraction[] = {
    text("factors", "the two factors").listed(),
    share("share", "its share of `squares`"),
    number("squares", "its sum of squares"),
};
constexpr JsonField kScreenedOperator[] = {
    text("operator", "the operator"),
    number("amount", "what it takes in the centre row"),
    share("share", "of the response there"),
    share("share_least", "the least over all rows"),
    share("share_most", "the most over all rows"),
};
constexpr JsonField kScreen[] = {
    kDesign,
    text("response", "the response; its unit is that of the numbers below")
        .oneOf("parameters flops static_memory arena least_time"),
    count("rows", "the rows"),
    truth("grid", "whether they are all combinations"),
    truth("work_ended", "whether the limit of work was reached"),
    text("no_grid_because", "the condition that prevents a grid, or `null`").orNull(),
    integer("strength", "the strength of the rows, counted"),
    number("mean", "the mean of the response"),
    number("least", "its least value"),
    number("most", "its largest value"),
    number("squares", "its total sum of squares"),
    object("effects", "the factors, the most influential first", kEffect).listed(),
    object("interactions", "interactions of two factors", kInteraction).listed(),
    share("cutoff", "from which a factor counts as influential"),
    text("influential", "the factors above the cutoff").listed(),
    text("negligible", "the others").listed(),
    value("centre", "the levels of the centre row").keyed("FACTOR"),
    object("operators", "what the operators contribute", kScreenedOperator).listed(),
};

constexpr JsonField kDevice[] = {
    text("name", "the name that options take"),
    text("called", "the device's own name"),
    text("compute_capability", "CUDA's compute capability").orNull(),
    bytes("memory", "its memory").orNull(),
    number("bandwidth", "of its memory").in(JsonUnit::BytesPerSecond),
    count("multiprocessors", "its multiprocessors").orNull(),
    number("clock", "of the multiprocessors").in(JsonUnit::Hertz).orNull(),
    number("memory_clock", "of the memory").in(JsonUnit::Hertz).orNull(),
    bytes("l2", "the second-level cache").orNull(),
    number("rates", "of arithmetic by element type").in(JsonUnit::FlopsPerSecond).keyed("TYPE"),
    bytes("context", "a CUDA context").orNull(),
    bytes("handles", "handles of libraries").orNull(),
    bytes("kernels", "loaded kernels").orNull(),
    text("measured", "how the last three were measured").orNull(),
};

constexpr JsonKind kKinds[] = {
    jsonKind("fit", "One object per combination of the other factors (`tbemc fit`).", kFit),
    jsonKind("what-if", "One object per line of the two tables (`tbemc what-if`).", kWhatIf),
    jsonKind("screen", "One object per response (`tbemc screen`; [screening.md](screening.md)).", kScreen),
    jsonKind("device", "One object per device (`tbemc doc --devices`; [devices.md](devices.md)).", kDevice),
};

}  // namespace

std::span<const JsonKind> searchKinds() { return kKinds; }

}  // namespace tbem::show
