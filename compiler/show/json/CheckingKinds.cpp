// Kinds of `check` and `design`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kFile = text("file", "the source file, or `null` where there is none").orNull();
constexpr JsonField kLine = integer("line", "its first line, counted from 1").orNull();
constexpr JsonField kColumn = integer("column", "the first column, counted from 1").orNull();
constexpr JsonField kEndLine = integer("end_line", "the line in which the place ends").orNull();
constexpr JsonField kEndColumn = integer("end_column", "the column behind its last one").orNull();

constexpr JsonField kLabel[] = {
    kFile,
    kLine,
    kColumn,
    kEndLine,
    kEndColumn,
    text("origin", "the line of Python that the place was written from: `model.py:92`").only("of an imported model"),
    text("text", "what is said of the place"),
};
constexpr JsonField kEdit[] = {kFile, kLine, kColumn, kEndLine, kEndColumn, text("replacement", "the text to put there")};
constexpr JsonField kFix[] = {
    text("applicability", "how sure the fix is").oneOf("certain maybe placeholder"),
    object("edits", "the edits that make the fix together", kEdit).listed(),
};
constexpr JsonField kCheck[] = {
    text("code", "the diagnostic's code, which `tbemc explain` takes"),
    text("severity", "how grave it is").oneOf("error warning note"),
    text("message", "the message"),
    kFile,
    kLine,
    kColumn,
    kEndLine,
    kEndColumn,
    value("levels", "the levels of the row that it concerns; a list where a factor has several").keyed("FACTOR"),
    value("also", "the levels of other rows with the same mistake").keyed("FACTOR").listed().only("where there are such rows"),
    object("labels", "further places", kLabel).listed(),
    text("notes", "further sentences").listed(),
    text("origins", "the lines of Python that the places were written from: `model.py:92`").listed().only("of an imported model"),
    object("fix", "how to mend it, or `null`", kFix).orNull(),
};

constexpr JsonField kChecks[] = {
    integer("strength", "the strength, counted"),
    count("level_counts", "how often each level occurs").listed().keyed("FACTOR"),
    count("duplicate_rows", "rows equal to an earlier one"),
    count("pairs_covered", "pairs of levels of two factors in the rows"),
    count("pairs", "all such pairs"),
    text("word_lengths", "the generalised word-length pattern A_0, A_1 and so on").listed(),
    text("aliases", "aliases of effects").listed(),
    text("dependences", "dependences between effects").listed(),
    integer("main_effects_rank", "the rank of the main-effects model").only("where the model was computed"),
    count("main_effects_parameters", "its parameters").only("where the model was computed"),
    number("condition", "its condition number").only("where the model was computed"),
};
constexpr JsonField kCovering[] = {
    integer("strength", "t: all combinations of levels of t factors are covered"),
    count("covered", "combinations of t levels in the rows"),
    count("impossible", "combinations that no valid row can hold"),
    count("lower_bound", "no array has fewer rows"),
    text("bound", "the name of this bound"),
    truth("optimal", "whether the rows equal the bound"),
    truth("ended_by_clock", "whether a faster machine would have searched on"),
    count("rows_without_search", "rows that were built without a search"),
};
constexpr JsonField kRepair[] = {
    text("from", "the array that it was made from"),
    count("from_rows", "the rows of that array"),
    count("kept", "rows that stayed"),
    integer("rank", "the rank of the model"),
    count("parameters", "the parameters of the model"),
    number("d_efficiency", "D-efficiency"),
    share("relative", "its share of the unconstrained array's"),
    number("a_efficiency", "A-efficiency"),
    number("largest_inflation", "the largest variance inflation"),
    count("triples_covered", "triples of levels in the rows; `null` if there are too many").orNull(),
    count("triples", "possible triples of levels; `null` if there are too many").orNull(),
    number("j2", "J2").orNull(),
    number("j2_least", "the minimum of J2").orNull(),
    number("max_leverage", "the largest leverage"),
    count("pairs_covered", "pairs of levels in the rows"),
    count("pairs", "possible pairs of levels"),
    number("largest_correlation", "between columns of the model of different factors or products"),
};
constexpr JsonField kFilteredRow[] = {
    kRow,
    kLevels,
    text("code", "the diagnostic's code"),
    text("condition", "the condition that it violates"),
};
constexpr JsonField kImbalance[] = {
    text("levels", "the least even combination of levels").keyed("FACTOR"),
    count("count", "how often it occurs"),
    number("even", "how often it would if even").in(JsonUnit::Count),
};
constexpr JsonField kFilter[] = {
    text("from", "the array"),
    count("from_rows", "the rows of the array"),
    object("rows", "the rows left out, with what they violate", kFilteredRow).listed(),
    integer("strength", "the strength after"),
    integer("strength_before", "the strength before"),
    count("pairs_covered", "pairs of levels after"),
    count("pairs_covered_before", "pairs of levels before"),
    count("pairs", "all pairs"),
    object("imbalance", "where levels occur least evenly", kImbalance).orNull(),
    integer("rank", "the rank of the model"),
    count("parameters", "the parameters of the model"),
    number("d_efficiency", "D-efficiency after"),
    number("d_efficiency_before", "D-efficiency before"),
};
constexpr JsonField kConstraints[] = {
    count("combinations", "valid combinations of all levels; `null` if there are too many to count").orNull(),
    count("pairs_excluded", "pairs of levels that no valid row can hold; `null` if that is too hard to decide").orNull(),
    count("triples_excluded", "likewise triples").orNull(),
};
constexpr JsonField kDesignFields[] = {
    kDesign,
    text("array", "the name of the array"),
    text("construction", "how it was made"),
    count("runs", "the rows"),
    count("smallest_possible", "a lower bound on the number of rows, or `null`").orNull(),
    text("smallest_by", "the name of that bound"),
    integer("strength", "the strength that the array promises"),
    value("rows", "the levels of each row").keyed("FACTOR").listed(),
    integer("row_numbers", "the number of each of `rows`, counted from 0, as other kinds give it").listed(),
    object("checks", "what counting shows", kChecks),
    object("covering", "what is covered", kCovering).only("for a covering array"),
    object("repair", "how rows were replaced", kRepair).only("where rows violated a `where`"),
    object("filter", "what the clause left out, and its effect on the array", kFilter).only("with a `filter`"),
    object("constraints", "what the constraints leave and exclude", kConstraints).only("with a `where`"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("check", "A diagnostic; every command may print some.", kCheck),
    jsonKind("design", "One object per design (`tbemc design`).", kDesignFields),
};

}  // namespace

std::span<const JsonKind> checkingKinds() { return kKinds; }

}  // namespace tbem::show
