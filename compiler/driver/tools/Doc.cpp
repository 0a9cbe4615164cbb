// tbemc doc NAME: the declaration's documentation and text, or what a word of the language is for; --all: those of the whole
// library; doc MODULE: a line for each of its declarations; --search: those that have some words; --man: the manual page.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/options/ManPage.h"
#include "compiler/show/Out.h"
#include "compiler/show/json/Kinds.h"
#include "compiler/show/json/KindsPage.h"
#include "compiler/show/reference/DocPage.h"
#include "compiler/show/reference/Reference.h"
#include "compiler/support/Version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

namespace tbem::driver {

namespace {

struct DocOptions : CommandOptions {
  std::vector<std::string> names;
  std::string search;
  bool all = false, operators = false, devices = false, kinds = false, man = false;
  std::string schema;
};

void declare(OptionList& list, DocOptions& o) {
  const Option name = list.add(
      "NAME", o.names,
      "conv2d, std.vision.resnet, std.nn, ..., a word of the language (skip); FILE, or FILE NAME: of a program of yours");
  list.add("--search", o.search,
           "declarations of the library (and of FILE), and words of the language, that have all words that follow")
      .type("WORDS");
  const Option all =
      list.flag("--all", o.all, "every public declaration of the library, with its documentation and text").excludes(name);
  const Option operators =
      list.flag("--operators", o.operators, "all operators in one table (Markdown): where they run, gradients, cost")
          .excludes(name)
          .excludes(all);
  const Option devices =
      list.flag("--devices", o.devices, "all devices of std.devices, and the fields of a device, in tables (Markdown)")
          .excludes(name)
          .excludes(all)
          .excludes(operators);
  const Option kinds = list.flag("--json-kinds", o.kinds, "all kinds of JSON object and their fields, in tables (Markdown)")
                           .excludes(name)
                           .excludes(all)
                           .excludes(operators)
                           .excludes(devices);
  const Option man = list.flag("--man", o.man, "the manual page tbemc(1): all commands and their options (troff)")
                         .excludes(name)
                         .excludes(all)
                         .excludes(operators)
                         .excludes(devices)
                         .excludes(kinds);
  list.add("--schema", o.schema, "the JSON Schema of one kind of JSON object")
      .type("KIND")
      .excludes(man)
      .excludes(name)
      .excludes(all)
      .excludes(operators)
      .excludes(devices)
      .excludes(kinds);
  addDisplay(list, o, {.width = "columns of a module's list (default, and 0: the terminal's, else 100)"});
}

/// A program of the user's, which a module's name is not.
bool isFile(const std::string& name) { return name.ends_with(".tbem") || name.find('/') != std::string::npos; }

std::string unheeded(const Given& given, const DocOptions& options) {
  if (!options.search.empty()) {
    if (const char* other = given.firstOf({"--all", "--operators", "--devices", "--json-kinds", "--schema", "--man"}))
      return fmt::format("--search or {}, not both", other);
    if (std::ranges::count_if(options.names, isFile) > 1)
      return fmt::format("one FILE at a time, found {}", fmt::join(options.names | std::views::filter(isFile), " "));
    return {};
  }
  const bool file = !options.names.empty() && isFile(options.names.front());
  if (options.names.size() > (file ? 2U : 1U))
    return fmt::format("`{}` would be passed over: one NAME, or FILE NAME (or --search WORDS)", options.names.back());
  return {};
}

/// With --search the NAMEs beside it are words too, so that no quotes are needed, but for a FILE.
std::string searchedWords(const DocOptions& options) {
  std::string words = options.search;
  for (const std::string& name : options.names) words += isFile(name) ? "" : " " + name;
  return words;
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

/// A program, or none (""), with every module of the standard library.
tl::expected<std::unique_ptr<Workspace>, Failed> loadAll(const std::string& file) {
  if (file.empty()) {
    Request everything;
    everything.program.text = "1";
    return loadWorkspace(everything);
  }
  auto workspace = std::make_unique<Workspace>();
  const auto source = readSource(workspace->session, file);
  if (!source) return tl::unexpected(source.error());
  workspace->path = file;
  workspace->load = sema::LoadOptions::fromEnvironment();
  workspace->load.allStandard = true;
  workspace->program = sema::load(workspace->session.sources, workspace->session.sink, **source, workspace->load);
  return workspace;
}

std::string ownManPage() {
  ManTexts texts;
  forEachCommand([&](const Command& command, const CLI::App& app) {
    texts.commands.push_back(manCommand(command.name, command.help, app, takesOne(command)));
  });
  for (const auto& [name, help] : laterCommands()) texts.later.emplace_back(name);
  texts.version = versionText();
  return manPage(texts);
}

int run(show::Out& out, const DocOptions& options) {
  if (options.man) {
    out.data(ownManPage());
    return kOk;
  }
  if (options.kinds) {
    show::printJsonKinds(out);
    return kOk;
  }
  if (!options.schema.empty()) return printSchema(out, options.schema);
  if (options.devices) {
    printDevices(out);
    return kOk;
  }
  if (options.names.empty() && !options.all && !options.operators && options.search.empty()) {
    out.failure(
        "tbemc doc wants a NAME, a module (std.nn, std.vision, std.text, ...), a FILE, --search, --all, --operators, "
        "--devices or --man");
    return kUsage;
  }
  const auto file = std::ranges::find_if(options.names, isFile);
  const bool own = file != options.names.end() && (file == options.names.begin() || !options.search.empty());
  const auto loaded = loadAll(own ? *file : "");
  if (!loaded) return out.fail(loaded.error());
  Workspace& workspace = **loaded;
  if (workspace.session.sink.hasErrors() && own) return out.diagnostics(workspace.session);
  if (!options.search.empty()) {
    const auto found = searchDocs(out, workspace, searchedWords(options));
    return found ? static_cast<int>(kOk) : out.fail(found.error());
  }
  if (own && options.names.size() == 1) {
    listProgram(out, workspace);
    return kOk;
  }
  if (options.all) {
    printLibrary(out, workspace);
    return kOk;
  }
  if (options.operators) {
    const sema::Module* library = workspace.program->find("std.nn");
    if (library == nullptr) return kEnvironment;
    printOperators(out, workspace, *library);
    return kOk;
  }
  const auto printed = printDoc(out, workspace, options.names.back());
  return printed ? static_cast<int>(kOk) : out.fail(printed.error());
}

}  // namespace

const Command kDoc = {"doc", "documentation of an operator, block, network or function, or of a word of the language", Takes::Own,
                      false, invocation<DocOptions, declare, unheeded, run>};

}  // namespace tbem::driver
