// tbemc import MODEL: a model of PyTorch, or one in an ONNX file, as a program.
#include "compiler/driver/Commands.h"
#include "compiler/driver/ImportedProgram.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/foreign/Python.h"
#include "compiler/import/onnx/ReadOnnx.h"
#include "runtime/data/Safetensors.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
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
  addDisplay(list, o, {.json = false});
}

std::string unheeded(const Given& given, const ImportOptions& options) {
  if (given.has("--json")) return "`tbemc import` writes a program: --json is of the commands that read it";
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

tl::expected<Model, imports::ExportFailure> readOnnxFile(const imports::ExportRequest& request) {
  auto file = data::MappedFile::open(request.target);
  if (!file) return tl::unexpected(imports::ExportFailure{"document", file.error(), ""});
  const std::filesystem::path place(request.target);
  auto read = imports::readOnnx(file->text(), place.parent_path().string(), place.filename().string(), request.inputs);
  if (!read) return tl::unexpected(std::move(read).error());
  Model model;
  model.exported = std::move(read->exported);
  model.file = std::move(*read);
  return model;
}

/// The export of the model, made now or recorded before.
tl::expected<std::string, imports::ExportFailure> exported(const imports::ExportRequest& request) {
  if (!isFile(request.target)) return imports::exportModel(request);
  tl::expected<std::string, files::Failure> text = files::readText(request.target, kMostBytes);
  if (!text) return tl::unexpected(imports::ExportFailure{"document", text.error().message, ""});
  return std::move(*text);
}

int write(show::Out& out, const std::string& path, const std::string& text) {
  const auto written = files::writeFile(path, text);
  if (!written) out.failure(written.error().message);
  return written ? kOk : kEnvironment;
}

/// "net.names" of "net.tbem".
std::string besideProgram(const std::string& program, const char* ending) {
  const bool hasEnding = program.ends_with(".tbem");
  return (hasEnding ? program.substr(0, program.size() - 5) : program) + ending;
}

/// `weights`: of an ONNX file; of other models they are in a file of the model's own.
int writeFiles(show::Out& out, const ImportOptions& options, const ImportedProgram& program,
               const std::vector<data::ArrayView>* weights) {
  const std::string& file = options.output;
  const std::string names = besideProgram(file, ".names");
  if (const int status = write(out, file, program.text); status != kOk) return status;
  if (const int status = write(out, names, imports::namesText(program.imported)); status != kOk) return status;
  std::string weightsFile = "model.safetensors";
  if (weights != nullptr) {
    weightsFile = besideProgram(file, ".safetensors");
    if (const auto written = data::writeSafetensors(weightsFile, *weights); !written) {
      out.failure(written.error());
      return kEnvironment;
    }
  }
  if (options.display.quiet) return kOk;
  out.print("{}: {} parameters, as in the model\n", file, program.imported.parameters);
  const char* const here = names.find('/') == std::string::npos ? "./" : "";  // a word alone names a table of the library
  out.print("{0}: names of its weights there: tbemc step {1} --load {3} --names {2}{0}\n", names, file, here, weightsFile);
  for (const std::string& remark : remarksOn(program.imported)) out.print("{}\n", remark);
  return kOk;
}

int finishImport(show::Out& out, const ImportOptions& options, Model model) {
  ImportedProgram program;
  const ImportRequest wanted{networkName(options), options.output, options.strict};
  if (const int status = importProgram(out, options, wanted, std::move(model.exported), program); status != kOk) return status;
  if (!options.output.empty()) return writeFiles(out, options, program, model.file ? &model.file->weights : nullptr);
  for (const std::string& remark : remarksOn(program.imported)) out.note(remark);
  out.data(program.text);
  return kOk;
}

int run(show::Out& out, const ImportOptions& options) {
  imports::ExportRequest request = options.model;
  for (const std::string& given : options.inputs) request.inputs.push_back(*imports::exportInput(given));
  if (isOnnx(request.target)) {
    tl::expected<Model, imports::ExportFailure> model = readOnnxFile(request);
    return model ? finishImport(out, options, std::move(*model)) : failed(out, model.error());
  }
  request.python = foreign::pythonOf({}, {.python = request.python, .folder = ""});
  const tl::expected<std::string, imports::ExportFailure> document = exported(request);
  if (!document) return failed(out, document.error());
  tl::expected<imports::Exported, imports::ExportFailure> model = imports::readExport(*document);
  if (!model) return failed(out, model.error());
  if (!options.record.empty()) {
    if (const int status = write(out, options.record, *document); status != kOk) return status;
  }
  return finishImport(out, options, {std::move(*model), std::nullopt});
}

}  // namespace

const Command kImport = {"import", "a model of PyTorch, or in an ONNX file, as a program", Takes::Own, false,
                         invocation<ImportOptions, declare, unheeded, run>};

}  // namespace tbem::driver
