// tbemc doc NAME: the declaration's documentation and text; doc MODULE: a line for each of its declarations. What is printed is
// what the compiler reads: there is no second source.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/sema/Suggest.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/show/Out.h"
#include "compiler/show/WrappedText.h"
#include "compiler/show/json/Kinds.h"
#include "compiler/show/json/KindsPage.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/show/reference/Reference.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tbem::driver {

namespace {

struct DocOptions : CommandOptions {
  std::string name;
  bool operators = false, devices = false, kinds = false;
  std::string schema;
};

void declare(OptionList& list, DocOptions& o) {
  const Option name = list.add("NAME", o.name, "conv2d, std.vision.resnet, std.nn, ...");
  const Option operators =
      list.flag("--operators", o.operators, "all operators in one table (Markdown): where they run, gradients, cost").excludes(name);
  const Option devices =
      list.flag("--devices", o.devices, "all devices of std.devices, and the fields of a device, in tables (Markdown)")
          .excludes(name)
          .excludes(operators);
  const Option kinds = list.flag("--json-kinds", o.kinds, "all kinds of JSON object and their fields, in tables (Markdown)")
                           .excludes(name)
                           .excludes(operators)
                           .excludes(devices);
  list.add("--schema", o.schema, "the JSON Schema of one kind of JSON object")
      .type("KIND")
      .excludes(name)
      .excludes(operators)
      .excludes(devices)
      .excludes(kinds);
  addDisplay(list, o, {.width = "columns of a module's list (default, and 0: the terminal's, else 100)"});
}

std::string unheeded(const Given& /*given*/, const DocOptions& /*options*/) { return {}; }

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

/// A kind, a name and a sentence; the sentence goes on below itself where it is wider than the terminal or --width.
void printEntry(show::Out& out, const DocOptions& options, const char* kind, const std::string& name, const std::string& sentence) {
  const std::string left = fmt::format("{:<9} {:<28}", kind, name);
  const std::size_t width = options.display.width != 0 ? options.display.width : report::terminalWidth(STDOUT_FILENO);
  const std::size_t beside = report::displayWidth(left) + 1;
  out.print("{}", show::hanging(left, sentence, beside < width / 2 + 1 ? beside : 10, width));
}

/// Every public declaration of a module, a line each. False where there is no such module.
bool listModule(show::Out& out, const DocOptions& options, const std::vector<Entry>& all) {
  bool any = false;
  for (const Entry& entry : all) {
    if (entry.module != options.name) continue;
    any = true;
    const std::string& name = entry.decl->name.text;
    if (options.display.json)
      out.json(
          "doc",
          {{"name", entry.module + "." + name}, {"what", kindOf(*entry.decl)}, {"documentation", entry.decl->documentation}});
    else
      printEntry(out, options, kindOf(*entry.decl), name, firstSentence(*entry.decl));
  }
  return any;
}

int printSchema(show::Out& out, const std::string& name) {
  if (const show::JsonKind* kind = show::findJsonKind(name)) {
    show::printJsonSchema(out, *kind);
    return kOk;
  }
  std::vector<std::string> names;
  for (const show::JsonGroup& group : show::jsonGroups()) {
    for (const show::JsonKind& kind : group.kinds) names.emplace_back(kind.name);
  }
  const std::string close = nearest(name, names);
  out.failure(fmt::format("--schema {}: --json prints no such kind{}", name,
                          close.empty() ? " (tbemc doc --json-kinds)" : fmt::format(": did you mean `{}`?", close)));
  return kUsage;
}

int run(show::Out& out, const DocOptions& options) {
  if (options.devices) {
    printDevices(out);
    return kOk;
  }
  if (options.kinds) {
    show::printJsonKinds(out);
    return kOk;
  }
  if (!options.schema.empty()) return printSchema(out, options.schema);
  if (options.name.empty() && !options.operators) {
    out.failure("tbemc doc wants a NAME, a module (std.nn, std.vision, std.text, ...), --operators or --devices");
    return kUsage;
  }
  Request everything;
  everything.program.text = "1";
  const auto loaded = loadWorkspace(everything);
  if (!loaded) return out.fail(loaded.error());
  const Workspace& workspace = **loaded;
  if (options.operators) {
    const sema::Module* library = workspace.program->find("std.nn");
    if (library == nullptr) return kEnvironment;
    printOperators(out, workspace, *library);
    return kOk;
  }
  const std::vector<Entry> all = entries(*workspace.program);
  if (listModule(out, options, all)) return kOk;
  std::set<std::string> names;
  bool any = false;
  for (const Entry& entry : all) {
    const std::string full = entry.module + "." + entry.decl->name.text;
    names.insert(entry.decl->name.text);
    if (options.name != entry.decl->name.text && options.name != full) continue;
    any = true;
    const std::string text = definition(workspace.session, *entry.decl);
    if (options.display.json) {
      out.json(
          "doc",
          {{"name", full}, {"what", kindOf(*entry.decl)}, {"documentation", entry.decl->documentation}, {"definition", text}});
      continue;
    }
    out.print("{} {}  ({})\n\n", kindOf(*entry.decl), full, workspace.session.sources.describe(entry.decl->name.range.begin));
    if (!entry.decl->documentation.empty()) out.print("{}\n\n", entry.decl->documentation);
    out.print("{}\n", text);
  }
  if (any) return kOk;
  const std::string_view network = sema::asTorchvision(options.name);
  const std::string close = nearest(options.name, {names.begin(), names.end()});
  std::string meant = close.empty() ? "" : fmt::format(": did you mean `{}`?", close);
  if (!network.empty()) meant = fmt::format(": torchvision's is `{}` here", network);
  if (const std::string_view packages = sema::absentFamily(options.name); !packages.empty() && network.empty())
    meant = fmt::format(": it is a network of {}", packages);
  if (sema::isBuiltin(options.name)) meant = ": it is a function of the language's own (docs/language.md)";
  out.failure(fmt::format("the standard library has no `{}`{}", options.name, meant));
  return kUsage;
}

}  // namespace

const Command kDoc = {"doc", "documentation of an operator, block, network or function", Takes::Own, false,
    invocation<DocOptions, declare, unheeded, run>};

}  // namespace tbem::driver
