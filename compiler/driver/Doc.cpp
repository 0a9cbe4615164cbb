// tbemc doc NAME: the declaration's documentation and text. What is printed is what the compiler reads: there is no second
// source.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/Workspace.h"
#include "compiler/sema/Suggest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tbem::driver {

namespace {

const char* kindOf(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::NodeKind::Function:
      return "function";
    case ast::NodeKind::Process:
      return "process";
    case ast::NodeKind::Constant:
      return "constant";
    case ast::NodeKind::Callable:
      switch (ast::cast<ast::Callable>(decl).callable) {
        case ast::CallableKind::Operator:
          return "operator";
        case ast::CallableKind::Block:
          return "block";
        case ast::CallableKind::Network:
          return "network";
        case ast::CallableKind::Dataset:
          return "dataset";
      }
      return "";
    default:
      return "declaration";
  }
}

struct Entry {
  const ast::Decl* decl;
  std::string module;
};

/// Every public named declaration of the standard library.
std::vector<Entry> entries(const sema::Program& program) {
  std::vector<Entry> found;
  for (const auto& module : program.modules()) {
    if (!module->isStandard) continue;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (sema::isNamed(*decl) && !decl->isPrivate) found.push_back({decl, module->name});
      }
    }
  }
  return found;
}

/// The declaration's text without the `///` lines before it and without an empty end.
std::string definition(const Session& session, const ast::Decl& decl) {
  std::string text(session.sources.text(decl.range));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  while (text.rfind("///", 0) == 0) {
    const std::size_t end = text.find('\n');
    text = end == std::string::npos ? "" : text.substr(end + 1);
  }
  return text;
}

}  // namespace

int runDoc(const Options& options) {
  if (options.operators) return runDocOperators(options);
  if (options.devices) return runDocDevices(options);
  if (options.word.empty()) {
    printFailure("tbemc doc wants a NAME, --operators or --devices");
    return kUsage;
  }
  Options everything = options;
  everything.text = "1";
  const std::unique_ptr<Workspace> workspace = loadWorkspace(everything);
  if (workspace == nullptr) return kEnvironment;
  std::set<std::string> names;
  bool any = false;
  for (const Entry& entry : entries(*workspace->program)) {
    const std::string full = entry.module + "." + entry.decl->name.text;
    names.insert(entry.decl->name.text);
    if (options.word != entry.decl->name.text && options.word != full) continue;
    any = true;
    const std::string text = definition(workspace->session, *entry.decl);
    if (options.json) {
      printJson(
          "doc",
          {{"name", full}, {"what", kindOf(*entry.decl)}, {"documentation", entry.decl->documentation}, {"definition", text}});
      continue;
    }
    fmt::print("{} {}  ({})\n\n", kindOf(*entry.decl), full, workspace->session.sources.describe(entry.decl->name.range.begin));
    if (!entry.decl->documentation.empty()) fmt::print("{}\n\n", entry.decl->documentation);
    fmt::print("{}\n", text);
  }
  if (any) return kOk;
  const std::string_view network = sema::asTorchvision(options.word);
  const std::string close = nearest(options.word, {names.begin(), names.end()});
  std::string meant = close.empty() ? "" : fmt::format(": did you mean `{}`?", close);
  if (!network.empty()) meant = fmt::format(": torchvision's is `{}` here", network);
  printFailure(fmt::format("the standard library has no `{}`{}", options.word, meant));
  return kUsage;
}

}  // namespace tbem::driver
