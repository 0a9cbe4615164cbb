// Kinds of `spec`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kProcess = text("process", "the process's name");
constexpr JsonField kSubject = text("subject", "the call or operator");
constexpr JsonField kCondition = text("condition", "the condition");
constexpr JsonField kReason = text("reason", "why something is `residual`").only("where something is");
constexpr std::string_view kVerdicts = "proved refuted vacuous residual";

constexpr JsonField kDoubt[] = {kSubject, kCondition, text("reason", "why it is not decided before")};

constexpr JsonField kScenario[] = {
    text("guard", "its condition on inputs"),
    text("definition", "what holds of outputs then"),
    integer("line", "its line"),
};
constexpr JsonField kFinding[] = {
    text("claim", "what was to be proved"),
    text("verdict", "what came of it").oneOf(kVerdicts),
    text("method", "how it was decided").oneOf("rules enumeration values solver"),
    value("values", "a counterexample; sequences and sets are lists").keyed("VARIABLE"),
    kReason,
};
constexpr JsonField kSpec[] = {
    kProcess,
    text("file", "the source file"),
    integer("line", "the process's line"),
    text("pre", "its precondition"),
    object("scenarios", "its functional scenarios", kScenario).listed(),
    object("findings", "what was proved or refuted", kFinding).listed(),
};

constexpr JsonField kRemedy[] = {
    text("kind", "what would be changed").oneOf("argument levels where"),
    text("text", "the remedy in words"),
    count("combinations", "the combinations that are left then"),
};
constexpr JsonField kLevelBreach[] = {
    kSubject,
    kCondition,
    count("combinations", "combinations of levels that violate it"),
    truth("at_least", "whether that is a lower bound"),
    count("rows", "rows that violate it"),
    text("nearest", "the levels with the fewest changes from the first ones").orNull().keyed("FACTOR"),
    text("causes", "what the violations have in common").listed(),
    truth("all_causes", "whether these are all"),
    object("remedies", "what would mend it", kRemedy).listed(),
};
constexpr JsonField kLevelsFields[] = {
    kDesign,
    text("verdict", "as for a process, or `filtered` where the violating rows are left out by the design's `filter`")
        .oneOf("proved refuted vacuous residual filtered"),
    count("combinations", "all combinations of levels"),
    count("rows", "the rows"),
    count("structures", "the structures that were considered"),
    count("conditions", "conditions"),
    count("by_intervals", "of these, those that intervals decided"),
    count("points", "evaluations at combinations of levels"),
    object("breaches", "the conditions that do not hold", kLevelBreach).listed(),
    object("checked_at_run_time", "the conditions that are left to the building of a row", kDoubt).listed(),
    kReason,
};

constexpr JsonField kSizeBreach[] = {
    kSubject,
    kCondition,
    number("values", "sizes that violate it").keyed("SIZE"),
};
constexpr JsonField kNetworkFields[] = {
    text("network", "its name, or the expression of `-e`"),
    text("at", "the values that steer the structure"),
    text("sizes", "the sizes for which it is proved"),
    text("verdict", "as for a process").oneOf(kVerdicts),
    count("conditions", "the conditions"),
    object("breaches", "the conditions that do not hold, eight at most", kSizeBreach).listed(),
    object("checked_at_run_time", "the conditions that are left to the building of a row", kDoubt).listed(),
    count("more", "refuted conditions beyond `breaches`, which may follow from these").only("where there are any"),
    text("pre", "a condition under which everything holds").only("where one was found"),
    kReason,
};

constexpr JsonField kBudget[] = {
    kDesign,
    text("budget", "the clause"),
    text("file", "the source file"),
    integer("line", "the clause's line"),
    text("quantity", "what is limited"),
    text("on", "where; `null`: from shapes alone").orNull(),
    number("limit", "in bytes, FLOPs or parameters"),
    number("value", "that of the row that takes most, in the same unit"),
    truth("at_least", "whether something is missing from the value that nobody knows"),
    truth("holds", "whether all rows keep it"),
    kRow,
    kLevels,
};

constexpr JsonField kResidual[] = {
    count("count", "in all"),
    count("conditions", "conditions"),
    count("networks", "networks that were not considered, or not completely"),
    count("designs", "designs that were not considered, or not completely"),
    truth("ended_by_work", "whether the limit of work was reached"),
    truth("strict", "whether `--strict` was given"),
};

constexpr JsonField kTest[] = {
    kProcess,
    integer("case", "the case's number, counted from 1"),
    integer("scenario", "the scenario's number, counted from 1; `null` for a case to refuse").orNull(),
    text("expected", "what a right program does").oneOf("definition refusal"),
    text("origin", "how the case was made").oneOf("seed vibration outside branch"),
    text("condition", "the boundary").orNull(),
    number("distance", "how far the case is from it").orNull(),
    value("inputs", "the inputs").keyed("VARIABLE"),
    text("verdict", "what the program did").oneOf("passed failed crashed timeout malformed").only("with `--run`"),
    value("outputs", "what it answered, or `null`").keyed("VARIABLE").orNull().only("with `--run`"),
    text("reason", "why it did not pass").orNull().only("with `--run`"),
};

constexpr JsonField kTests[] = {
    kProcess,
    count("cases", "the cases"),
    count("to_refuse", "of these, those to refuse"),
    integer("seed", "the seed"),
    text("gaps", "what no case reaches").listed(),
    count("passed", "cases that passed").only("with `--run`"),
    count("failed", "cases that failed").only("with `--run`"),
    count("crashed", "cases in which the program crashed").only("with `--run`"),
    count("timeout", "cases in which it took too long").only("with `--run`"),
    count("malformed", "cases in which its answer could not be read").only("with `--run`"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("spec", "One object per process (`tbemc spec`; [specifications.md](specifications.md)).", kSpec),
    jsonKind("levels", "One object per design.", kLevelsFields),
    jsonKind("network", "One object per network.", kNetworkFields),
    jsonKind("budget", "One object per clause `budget` of a design ([designs.md](designs.md#budgets)).", kBudget),
    jsonKind("residual", "One object at the end of `spec`: what was neither proved nor refuted.", kResidual),
    jsonKind("spec_test", "One object per case (`tbemc spec --tests`).", kTest),
    jsonKind("spec_tests", "One object at the end of a process's cases.", kTests),
};

}  // namespace

std::span<const JsonKind> proofKinds() { return kKinds; }

}  // namespace tbem::show
