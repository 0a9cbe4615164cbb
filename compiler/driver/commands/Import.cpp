// tbemc import MODEL: a model of PyTorch, or one in an ONNX file, as a program.
#include "compiler/driver/Commands.h"
#include "compiler/driver/ImportedProgram.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/foreign/Python.h"
#include "compiler/import/onnx/ReadOnnx.h"
#include "runtime/data/Safetensors.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
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

bool isOnnx(const std::string& target) { return target.ends_with(".onnx"); }
/// Of a model that needs no Python.
bool isFile(const std::string& target) { return target.ends_with(".json") || isOnnx(target); }

void declare(OptionList& list, ImportOptions& o) {
  o.model.timeLimit = kUsualLimit;
  list.add("MODEL", o.model.target,
           "package.module:Name or file.py:name: a torch.nn.Module, or what makes one; or a file: MODEL.onnx, or a recorded "
           "export, FILE.json")
      .required()
      .check([](const std::string& text) {
        const std::size_t colon = text.rfind(':');
        const bool isModel = isFile(text) || (colon != std::string::npos && colon > 0 && colon + 1 < text.size());
        return isModel ? std::string() : fmt::format("`{}` is no model: package.module:Name, file.py:name or FILE.onnx", text);
      });
  list.add("--input", o.inputs, "an input of forward and its shape: image=16,3,224,224, or tokens=4,128:i64; one option an input")
      .single()
      .check([](const std::string& text) {
        const auto input = imports::exportInput(text);
        return input ? std::string() : input.error();
      });
  list.add("--args", o.model.arguments, "arguments that MODEL is called with, as Python reads them: \"depth=18, classes=10\"");
  list.add("--python", o.model.python,
           "the Python that has PyTorch and the model (default: the active environment's, else python3)")
      .type("PATH");
  list.add("--sizes", o.model.sizes,
           "sizes of the inputs that stay open: the first of each (batch), every one that the model allows (all), none (fixed)")
      .oneOf({"batch", "all", "fixed"})
      .showDefault();
  list.flag("--strict", o.strict,
            "refuse a model with operators that have no form in the language; else they become opaque: their bytes are "
            "known, their FLOPs are not, and no step runs");
  list.add("--name", o.name, "the network's name (default: MODEL's)");
  list.add("-o,--output", o.output,
           "the program's file; beside it the names of its weights in the model (FILE.names), and the weights of an ONNX file "
           "(FILE.safetensors)")
      .type("FILE");
  list.add("--record", o.record, "also write the export itself, which is a MODEL for later: FILE.json, read without Python")
      .type("FILE");
  list.add("--max-time", o.model.timeLimit, "seconds that the export may take").seconds().showDefault();
  list.flag("--sarif", o.display.sarif, kSarif);
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const ImportOptions& options) {
  if (options.display.sarif && options.output.empty())
    return "--sarif leaves standard output to the findings: -o says where the program goes";
  const std::string& target = options.model.target;
  if (options.inputs.empty() && !isFile(target)) return "say what the model reads: --input image=16,3,224,224";
  std::set<std::string> names;
  for (const std::string& text : options.inputs) {
    const std::string name = imports::exportInput(text)->name;
    if (!names.insert(name).second) return fmt::format("the input `{}` is given twice", name);
  }
  if (!isFile(target)) return {};
  const char* const passed = given.firstOf({"--args", "--python", "--sizes", "--record", "--max-time"});
  if (isOnnx(target))
    return passed == nullptr ? std::string()
                             : fmt::format("{} is of a model that Python makes: an ONNX file is as it is", passed);
  const char* const first = given.firstOf({"--input", "--args", "--python", "--sizes", "--record", "--max-time"});
  return first == nullptr ? std::string() : fmt::format("{} is of a model: an export that was recorded is as it is", first);
}

/// "resnet50" of "torchvision.models:resnet50", and of "models/resnet50.onnx".
std::string networkName(const ImportOptions& options) {
  const std::string& target = options.model.target;
  if (options.name.empty() && isOnnx(target)) return std::filesystem::path(target).stem().string();
  const std::string name = options.name.empty() ? target.substr(target.rfind(':') + 1) : options.name;
  return name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
}

/// A model as it was read.
struct Model {
  imports::Exported exported;
  std::optional<imports::OnnxImport> file;  ///< an ONNX file, with its weights
};

/// "net.names" of "net.tbem".
std::string besideProgram(const std::string& program, const char* ending) {
  const bool hasEnding = program.ends_with(".tbem");
  return (hasEnding ? program.substr(0, program.size() - 5) : program) + ending;
}

/// The files of a program. Names are "" where there is none.
struct Written {
  std::string program, names, weights;
};

/// `weights`: of an ONNX file; of other models they are in a file of the model's own.
tl::expected<Written, Failed> writeFiles(const std::string& file, const ImportedProgram& program,
                                         const std::vector<data::ArrayView>* weights) {
  Written written = {file, besideProgram(file, ".names"), ""};
  for (const auto& [path, text] :
       {std::pair(written.program, program.text), std::pair(written.names, imports::namesText(program.imported))}) {
    if (auto done = files::writeFile(path, text); !done) return failed(kEnvironment, std::move(done.error().message));
  }
  if (weights == nullptr) return written;
  written.weights = besideProgram(file, ".safetensors");
  if (auto done = data::writeSafetensors(written.weights, *weights); !done) return failed(kEnvironment, std::move(done.error()));
  return written;
}

Json orNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

void printJson(show::Out& out, const ImportedProgram& program, const Written& written) {
  const imports::Imported& imported = program.imported;
  Json opaque = Json::array();
  for (const imports::LackingOperator& op : imported.opaque)
    opaque.push_back({{"operator", op.op}, {"count", op.count}, {"place", orNull(op.place)}, {"why", orNull(op.why)}});
  out.json("import", {{"network", imported.network},
                      {"parameters", imported.parameters},
                      {"file", orNull(written.program)},
                      {"names", orNull(written.names)},
                      {"weights", orNull(written.weights)},
                      {"text", written.program.empty() ? Json(program.text) : Json()},
                      {"opaque", std::move(opaque)},
                      {"unread", imported.unread},
                      {"fixed", imported.fixed}});
}

void printFiles(show::Out& out, const ImportedProgram& program, const Written& written) {
  const std::string& names = written.names;
  out.print("{}: {} parameters, as in the model\n", written.program, program.imported.parameters);
  const char* const here = names.find('/') == std::string::npos ? "./" : "";  // a word alone names a table of the library
  out.print("{0}: names of its weights there: tbemc step {1} --load {3} --names {2}{0}\n", names, written.program, here,
            written.weights.empty() ? "model.safetensors" : written.weights);
  for (const std::string& remark : remarksOn(program.imported)) out.print("{}\n", remark);
}

ModelFiles filesOf(const ImportOptions& options) {
  return isFile(options.model.target) ? ModelFiles::Elsewhere : ModelFiles::Here;
}

int finishImport(show::Out& out, const ImportOptions& options, Model model) {
  ImportedProgram program;
  const ImportRequest wanted{networkName(options), options.output, options.strict, filesOf(options)};
  if (const int status = importProgram(out, options, wanted, std::move(model.exported), program); status != kOk) return status;
  tl::expected<Written, Failed> written;
  if (!options.output.empty()) written = writeFiles(options.output, program, model.file ? &model.file->weights : nullptr);
  if (!written) return out.fail(written.error());
  const show::Display& display = options.display;
  if (display.json) {
    printJson(out, program, *written);
  } else if (options.output.empty()) {
    for (const std::string& remark : remarksOn(program.imported)) out.note(remark);
    out.data(program.text);
  } else if (!display.quiet && !display.sarif) {
    printFiles(out, program, *written);
  }
  return kOk;
}

int runOnnx(show::Out& out, const ImportOptions& options, const imports::ExportRequest& request) {
  const auto file = data::MappedFile::open(request.target);
  if (!file) return out.fail({kEnvironment, {file.error()}});
  const std::filesystem::path place(request.target);
  auto read = imports::readOnnx(file->text(), place.parent_path().string(), place.filename().string(), request.inputs);
  if (!read) return tellFailure(out, read.error(), ModelFiles::Elsewhere);
  Model model;
  model.exported = std::move(read->exported);
  model.file = std::move(*read);
  return finishImport(out, options, std::move(model));
}

int runDocument(show::Out& out, const ImportOptions& options, const std::string& document) {
  tl::expected<imports::Exported, imports::ExportFailure> model = imports::readExport(document);
  if (!model) return tellFailure(out, model.error(), filesOf(options));
  if (!options.record.empty()) {
    if (const auto written = files::writeFile(options.record, document); !written)
      return out.fail({kEnvironment, {written.error().message}});
  }
  return finishImport(out, options, {std::move(*model), std::nullopt});
}

int run(show::Out& out, const ImportOptions& options) {
  imports::ExportRequest request = options.model;
  for (const std::string& given : options.inputs) request.inputs.push_back(*imports::exportInput(given));
  if (isOnnx(request.target)) return runOnnx(out, options, request);
  if (isFile(request.target)) {
    const auto recorded = files::readText(request.target, kMostBytes);
    return recorded ? runDocument(out, options, *recorded) : out.fail({kEnvironment, {recorded.error().message}});
  }
  request.python = foreign::pythonOf({}, {.python = request.python, .folder = ""});
  const tl::expected<std::string, imports::ExportFailure> document = imports::exportModel(request);
  return document ? runDocument(out, options, *document) : tellFailure(out, document.error(), filesOf(options));
}

}  // namespace

const Command kImport = {"import", "a model of PyTorch, or in an ONNX file, as a program", Takes::Own, false,
                         invocation<ImportOptions, declare, unheeded, run>};

}  // namespace tbem::driver
