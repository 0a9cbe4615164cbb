// Kinds of `import`, `doc`, `explain`, `doctor` and `fmt`.
#include "compiler/show/json/Kinds.h"

namespace tbem::show {

namespace {

using namespace fields;

constexpr JsonField kOperator[] = {
    text("name", "the operator's name"),
    text("signature", "its inputs, parameters and results"),
    text("backends", "the backends that have it, with spaces between"),
    text("gradient", "the inputs and weights that have a gradient"),
    text("cost", "the parts that its FLOPs are counted in"),
};
constexpr JsonField kBlock[] = {
    text("name", "the block's name"),
    text("signature", "its inputs, parameters and results"),
    text("documentation", "its documentation"),
};
constexpr JsonField kDoc[] = {
    text("name", "the declaration's name, with its module; of the language's own words the word"),
    text("what", "what it is: `operator`, `block`, `network` and so on, or `word`, one of the language"),
    text("documentation", "its documentation"),
    text("definition", "its text").only("not of a word, and not in the list of a module, a file or a search"),
};
constexpr JsonField kExplain[] = {
    text("code", "the diagnostic's code"),
    text("name", "its name in the compiler"),
    text("severity", "how grave it is").oneOf("error warning note"),
    text("message", "its message, with `{}` for what varies"),
    text("text", "its page"),
};
constexpr JsonField kDoctor[] = {
    text("what", "what was looked at"),
    truth("ok", "whether it is as it should be"),
    text("text", "what was found"),
};
constexpr JsonField kOpaque[] = {
    text("operator", "what the model calls it"),
    count("count", "how often the model calls it"),
    text("place", "the first call of it: a line of the model, or a node of its file").orNull(),
    text("why", "of the first call, where it is not the operator but how it is called").orNull(),
};
constexpr JsonField kImport[] = {
    kNetwork,
    count("parameters", "elements of the weights that are learned"),
    text("file", "the program's file; `null` without `-o`").orNull(),
    text("names", "the file with the names that its weights have in the model; `null` without `-o`").orNull(),
    text("weights", "the file with its weights; `null` without `-o`, and of a model that is no ONNX file").orNull(),
    text("text", "the program; `null` with `-o`").orNull(),
    object("opaque", "operators that have no form in the language", kOpaque).listed(),
    text("unread", "weights that the model does not read when it does not train").listed(),
    text("fixed", "sizes that the model computes from open ones, and that are numbers in the program").listed(),
};
constexpr JsonField kNamed[] = {
    text("model", "its name in the model"),
    text("program", "its path in the program"),
};
constexpr JsonField kImported[] = {
    object("weights", "weights and running statistics", kNamed).listed(),
};
constexpr JsonField kFmt[] = {
    text("file", "the file"),
    truth("changed", "whether its layout is not the one"),
    text("text", "the formatted program; `null` with `--check` and `--write`").orNull(),
};
constexpr JsonField kJsonSchema[] = {
    text("name", "the kind that it describes"),
    value("document", "the JSON Schema (draft 2020-12)").keyed("KEYWORD"),
};

constexpr JsonKind kKinds[] = {
    jsonKind("import", "One object (`tbemc import`; [import.md](import.md)), where the model is a program.", kImport),
    jsonKind("imported", "One object of `tbem_import` ([embedding.md](embedding.md)), where the model is a program.", kImported),
    jsonKind("operator",
             "One object per operator (`tbemc doc --operators`; without `--json` it prints [operators.md](operators.md)).",
             kOperator),
    jsonKind("block", "One object per block (`tbemc doc --operators`).", kBlock),
    jsonKind("doc",
             "One object per declaration or word of the language (`tbemc doc NAME`, `tbemc doc --all`, `tbemc doc MODULE`, "
             "`tbemc doc --search WORDS`).",
             kDoc),
    jsonKind("explain", "One object (`tbemc explain CODE`), or one per diagnostic (`--all`).", kExplain),
    jsonKind("doctor", "One object per finding (`tbemc doctor`).", kDoctor),
    jsonKind("fmt", "One object per file (`tbemc fmt`).", kFmt),
    jsonKind("json_schema", "One object per kind (`tbemc doc --json-kinds`; without `--json` it prints this page).", kJsonSchema),
};

}  // namespace

std::span<const JsonKind> toolKinds() { return kKinds; }

}  // namespace tbem::show
