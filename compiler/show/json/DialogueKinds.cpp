// Kinds of `repl`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kEntry[] = {
    count("number", "of the entry, from 1"),
    truth("ok", "whether it was answered: no mistake, no failure"),
};
constexpr JsonField kDeclaration[] = {
    text("what", "`network`, `block`, `design`, `import` and so on"),
    text("name", "its name; of an import what is imported"),
};
constexpr JsonField kDeclared[] = {
    object("declarations", "what the entry declares", kDeclaration).listed(),
    text("replaced", "names that meant something else before").listed(),
    count("parts", "parts of the program that a check comes to: rows of designs, proofs, networks, processes"),
    count("parts_checked", "those that had to be looked at again"),
};
constexpr JsonField kValue[] = {
    text("text", "the value, as it can be typed again"),
};
constexpr JsonField kResult[] = {
    text("dtype", "its element type"),
    count("shape", "its sizes").listed(),
};
constexpr JsonField kCall[] = {
    object("results", "of the call", kResult).listed(),
    count("parameters", "learned numbers"),
    flops("flops_forward", "of the forward pass"),
    bytes("live", "largest sum of live memory"),
    bytes("arena", "of the plan that runs"),
    text("peak", "the operator at the peak of memory"),
    text("peak_scope", "the block instance in which it stands; empty for the call itself"),
};
constexpr JsonField kCallOperator[] = {
    text("path", "the block instance in which it stands; empty for the call itself"),
    text("operator", "the operator's name"),
    object("results", "of the operator", kResult).listed(),
    flops("flops", "of the operator"),
};
constexpr JsonField kCallFlops[] = {
    text("operator", "the operator's name"),
    count("calls", "how often it is called"),
    flops("flops", "of all these calls"),
};
constexpr JsonField kTensor[] = {
    text("name", "its name; empty where it has none"),
    text("dtype", "its element type"),
    count("shape", "its sizes").listed(),
    count("size", "its numbers"),
    count("not_finite", "those of them that are infinite or NaN; what follows leaves them out"),
    number("mean", "of its numbers"),
    number("deviation", "standard deviation of the population"),
    number("min", "the least"),
    number("max", "the largest"),
    number("first", "its first numbers, at most eight").listed(),
};
constexpr JsonField kSessionProgram[] = {
    text("text", "the program that the entries made"),
};

constexpr JsonField kShownText[] = {
    text("what", "what it is").oneOf("help plot file forgotten"),
    text("text", "as it is shown; of a file that was written its path"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("entry", "One object behind the answers to each entry (`tbemc repl --json`).", kEntry),
    jsonKind("declared", "One object per entry with declarations.", kDeclared),
    jsonKind("value", "One object per expression of elaboration time.", kValue),
    jsonKind("call", "One object per call whose inputs are given by their shapes.", kCall),
    jsonKind("tensor", "One object per tensor that a call made, or that `:tensors` lists.", kTensor),
    jsonKind("call_operator", "One object per operator of a call (`:shape CALL`).", kCallOperator),
    jsonKind("call_flops", "One object per operator's name in a call (`:flops CALL`).", kCallFlops),
    jsonKind("shown_text", "One object (`:help`, `plot`, `:save`, and `:forget` of what others use).", kShownText),
    jsonKind("session_program", "One object (`:list`).", kSessionProgram),
};

}  // namespace

std::span<const JsonKind> dialogueKinds() { return kKinds; }

}  // namespace tbem::show
