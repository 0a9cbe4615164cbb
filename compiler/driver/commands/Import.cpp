// tbemc import MODEL: a model of PyTorch as a program.
#include "compiler/import/Import.h"
#include "compiler/diagnostics/Source.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/import/Export.h"
#include "compiler/run/weights/ListWeights.h"
#include "compiler/show/Out.h"
#include "compiler/syntax/format/Format.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

namespace {

constexpr double kUsualLimit = 600;                           // seconds
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of a recorded export

struct ImportOptions : CommandOptions {
  imports::ExportRequest model;
  std::vector<std::string> inputs;  ///< "image=16,3,224,224"
  std::string output;               ///< the program's file; "": standard output
  std::string record;               ///< a file for the export itself
  std::string name;                 ///< of the network
  bool strict = false;              ///< no operator is opaque
};

void declare(OptionList& list, ImportOptions& o) {
  o.model.python = "python3";
  o.model.timeLimit = kUsualLimit;
  list.add("MODEL", o.model.target,
           "package.module:Name or file.py:name: a torch.nn.Module, or what makes one; or a recorded export, FILE.json")
      .required()
      .check([](const std::string& text) {
        const std::size_t colon = text.rfind(':');
        const bool isModel = text.ends_with(".json") || (colon != std::string::npos && colon > 0 && colon + 1 < text.size());
        return isModel ? std::string() : fmt::format("`{}` is no model: package.module:Name, or file.py:name", text);
      });
  list.add("--input", o.inputs, "an input of forward and its shape: image=16,3,224,224, or tokens=4,128:i64; one option an input")
      .single()
      .check([](const std::string& text) {
        const auto input = imports::exportInput(text);
        return input ? std::string() : input.error();
      });
  list.add("--args", o.model.arguments, "arguments that MODEL is called with, as Python reads them: \"depth=18, classes=10\"");
  list.add("--python", o.model.python, "the Python that has PyTorch and the model").type("PROGRAM").showDefault();
  list.add("--sizes", o.model.sizes,
           "sizes of the inputs that stay open: the first of each (batch), every one that the model allows (all), none (fixed)")
      .oneOf({"batch", "all", "fixed"})
      .showDefault();
  list.flag("--strict", o.strict,
            "refuse a model with operators that have no form in the language; else they become opaque: their bytes are "
            "known, their FLOPs are not, and no step runs");
  list.add("--name", o.name, "the network's name (default: MODEL's)");
  list.add("-o,--output", o.output, "the program's file; beside it the names of its weights in the model (FILE.names)")
      .type("FILE");
  list.add("--record", o.record, "also write the export itself, which is a MODEL for later: FILE.json, read without Python")
      .type("FILE");
  list.add("--max-time", o.model.timeLimit, "seconds that the export may take").seconds().showDefault();
  addDisplay(list, o, {.json = false});
}

/// What a program without imports knows.
std::set<std::string> libraryNames() {
  const std::unique_ptr<Workspace> empty = workspaceOf("", "<empty>", "", {});
  const std::vector<std::string> names = empty->program->names(empty->program->main());
  return {names.begin(), names.end()};
}

bool isRecorded(const ImportOptions& options) { return options.model.target.ends_with(".json"); }

std::string unheeded(const Given& given, const ImportOptions& options) {
  if (given.has("--json")) return "`tbemc import` writes a program: --json is of the commands that read it";
  if (options.inputs.empty() && !isRecorded(options)) return "say what the model reads: --input image=16,3,224,224";
  if (!isRecorded(options)) return {};
  const char* const passed = given.firstOf({"--input", "--args", "--python", "--sizes", "--record", "--max-time"});
  return passed == nullptr ? std::string() : fmt::format("{} is of a model: an export that was recorded is as it is", passed);
}

/// "resnet50" of "torchvision.models:resnet50".
std::string networkName(const ImportOptions& options) {
  const std::string name = options.name.empty() ? options.model.target.substr(options.model.target.rfind(':') + 1) : options.name;
  return name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
}

/// The export of the model, made now or recorded before.
tl::expected<std::string, imports::ExportFailure> exported(const imports::ExportRequest& request, bool recorded) {
  if (!recorded) return imports::exportModel(request);
  tl::expected<std::string, files::Failure> text = files::readText(request.target, kMostBytes);
  if (!text) return tl::unexpected(imports::ExportFailure{"document", text.error().message, ""});
  return std::move(*text);
}

int failed(show::Out& out, const imports::ExportFailure& failure) {
  out.failure(failure.place.empty() ? failure.message : fmt::format("{} ({})", failure.message, failure.place));
  return failure.kind == "python" || failure.kind == "torch" || failure.kind == "document" ? kEnvironment : kUsage;
}

std::string listText(std::string text, const std::vector<imports::LackingOperator>& list) {
  for (const imports::LackingOperator& op : list)
    text += fmt::format("\n  {}, {} time{}{}", op.op, op.count, op.count == 1 ? "" : "s",
                        op.place.empty() ? "" : ", first at " + op.place);
  return text;
}

int lacking(show::Out& out, const imports::Imported& imported) {
  out.failure(listText("the model has operators that have no form in the language yet:", imported.lacking));
  return kProgramErrors;
}

void noteOpaque(show::Out& out, const imports::Imported& imported) {
  if (imported.opaque.empty()) return;
  out.note(
      listText("operators that have no form in the language yet are opaque: their bytes are known, their FLOPs are not, and "
               "no step runs:",
               imported.opaque));
}

/// A design of one row, with the shapes that the model was exported for.
std::string designText(const std::string& network, const std::vector<imports::NetworkInput>& inputs) {
  std::string text = fmt::format("\ndesign {0}_rows of {0} {{\n", network);
  for (const imports::NetworkInput& input : inputs)
    text += fmt::format("  input {}: [{}]\n", input.name, fmt::join(input.shape, ", "));
  return text + "}\n";
}

/// Why the program's weights are not the model's, or "".
std::string weightsDiffer(const graph::Row& row, const imports::Imported& imported) {
  std::map<std::string, imports::WeightName> theirs;
  for (const imports::WeightName& weight : imported.weights) theirs.emplace(weight.ours, weight);
  for (const ListedArray& array : weightsOf(row)) {
    const auto known = theirs.find(array.name);
    if (known == theirs.end()) return fmt::format("the program has {}, and the model no such weight", array.name);
    if (known->second.shape != array.shape)
      return fmt::format("{} is [{}] in the program, and {} [{}] in the model", array.name, fmt::join(array.shape, ", "),
                         known->second.theirs, fmt::join(known->second.shape, ", "));
    theirs.erase(known);
  }
  return theirs.empty() ? "" : fmt::format("the model has {}, and the program no such weight", theirs.begin()->second.theirs);
}

int write(show::Out& out, const std::string& path, const std::string& text) {
  const auto written = files::writeFile(path, text);
  if (!written) out.failure(written.error().message);
  return written ? kOk : kEnvironment;
}

std::string namesPath(const std::string& program) {
  const bool hasEnding = program.ends_with(".tbem");
  return (hasEnding ? program.substr(0, program.size() - 5) : program) + ".names";
}

/// The program in the formatter's layout. What was written has to be a program: that it is none is our mistake.
std::string formatted(const std::string& name, const std::string& text) {
  Session session;
  const std::optional<std::string> layout = syntax::format(session.sources.add(name, text), session.sink);
  return layout.value_or(text);
}

/// Reads what was written as any program is read: it has to be one, with the model's weights.
int check(show::Out& out, const ImportOptions& options, const imports::Imported& imported, const std::string& file,
          const std::string& text) {
  ImportOptions request = options;
  request.program.files = {file};
  request.program.contents = text;
  PipelineState state(request, out);
  state.firstRowOnly = true;
  const Progressed done = runPipeline(out, state, options.stages, "graph");
  const RowState* const row = done.proceed ? firstRow(out, state, "the program has no row") : nullptr;
  const std::string differs = row == nullptr ? "it is no program" : weightsDiffer(*row->elaborated, imported);
  if (differs.empty()) return finish(out, state, kOk);
  if (options.output.empty()) out.data(text);
  out.failure(
      fmt::format("what was written is not the model: {}; this is a mistake of tbemc, please report it with the model", differs));
  return kProgramErrors;
}

int writeFiles(show::Out& out, const ImportOptions& options, const imports::Imported& imported, const std::string& text) {
  const std::string& file = options.output;
  const std::string names = namesPath(file);
  if (const int status = write(out, file, text); status != kOk) return status;
  if (const int status = write(out, names, imports::namesText(imported)); status != kOk) return status;
  if (options.display.quiet) return kOk;
  out.print("{}: {} parameters, as in the model\n", file, imported.parameters);
  if (!imported.unread.empty())
    out.print("left out, as the model does not read them when it does not train: {} and {} more\n", imported.unread.front(),
              imported.unread.size() - 1);
  const char* const here = names.find('/') == std::string::npos ? "./" : "";  // a word alone names a table of the library
  out.print("{0}: names of its weights there: tbemc step {1} --load model.safetensors --names {2}{0}\n", names, file, here);
  if (!imported.fixed.empty())
    out.print("sizes that the model computes from open ones, and that are numbers here: {}\n", fmt::join(imported.fixed, ", "));
  return kOk;
}

int run(show::Out& out, const ImportOptions& options) {
  imports::ExportRequest request = options.model;
  for (const std::string& given : options.inputs) request.inputs.push_back(*imports::exportInput(given));
  const tl::expected<std::string, imports::ExportFailure> document = exported(request, isRecorded(options));
  if (!document) return failed(out, document.error());
  tl::expected<imports::Exported, imports::ExportFailure> model = imports::readExport(*document);
  if (!model) return failed(out, model.error());
  if (!options.record.empty()) {
    if (const int status = write(out, options.record, *document); status != kOk) return status;
  }
  const imports::Imported imported = imports::programOf(std::move(*model), networkName(options), libraryNames(), options.strict);
  if (!imported.lacking.empty()) return lacking(out, imported);
  noteOpaque(out, imported);
  const std::string file = options.output.empty() ? imported.network + ".tbem" : options.output;
  const std::string text = formatted(file, imported.text + designText(imported.network, imported.inputs));
  if (const int status = check(out, options, imported, file, text); status != kOk) return status;
  if (!options.output.empty()) return writeFiles(out, options, imported, text);
  out.data(text);
  return kOk;
}

}  // namespace

const Command kImport = {"import", "a model of PyTorch as a program", Takes::Own, false,
                         invocation<ImportOptions, declare, unheeded, run>};

}  // namespace tbem::driver
