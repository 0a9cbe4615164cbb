// tbemc doc NAME: the declaration's documentation and text; doc MODULE: a line for each of its declarations.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"
#include "compiler/show/json/Kinds.h"
#include "compiler/show/json/KindsPage.h"
#include "compiler/show/reference/DocPage.h"
#include "compiler/show/reference/Reference.h"

#include <fmt/format.h>

#include <string>
#include <vector>

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
      list.flag("--operators", o.operators, "all operators in one table (Markdown): where they run, gradients, cost")
          .excludes(name);
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
  if (options.kinds) {
    show::printJsonKinds(out);
    return kOk;
  }
  if (!options.schema.empty()) return printSchema(out, options.schema);
  if (options.devices) {
    printDevices(out);
    return kOk;
  }
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
  const auto printed = printDoc(out, workspace, options.name);
  return printed ? static_cast<int>(kOk) : out.fail(printed.error());
}

}  // namespace

const Command kDoc = {"doc", "documentation of an operator, block, network or function", Takes::Own, false,
                      invocation<DocOptions, declare, unheeded, run>};

}  // namespace tbem::driver
