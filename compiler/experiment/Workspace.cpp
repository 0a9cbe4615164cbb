#include "compiler/experiment/Workspace.h"

#include "compiler/experiment/OneRowDesign.h"
#include "compiler/syntax/parse/Parse.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/files/Read.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tbem::driver {

namespace {

/// What the messages call a program that was handed over and has no file.
std::string nameOf(const std::string& path) {
  if (!files::isInherited(path)) return path;
  const bool fromShell = path != "-" && path != "/dev/stdin";
  return fromShell ? fmt::format("<fd {}>", path.substr(path.rfind('/') + 1)) : "<stdin>";
}

}  // namespace

tl::expected<const Source*, Failed> readSource(Session& session, const std::string& path) {
  auto text = files::readText(path, kMostText);
  if (!text) return failed(kEnvironment, text.error().message);
  const Source* source = &session.sources.add(nameOf(path), std::move(*text));
  // A text in UTF-16 has zeros too; the parser says how to convert it.
  const bool wide = source->text.starts_with("\xff\xfe") || source->text.starts_with("\xfe\xff");
  if (!wide && (source->text.find('\0') != std::string::npos || data::isPickled(source->text))) {
    return failed(kEnvironment,
                  fmt::format("cannot read {}: it is no program but {}", path,
                              data::beginsLikeArrays(source->text)
                                  ? "a file of arrays (`tbemc weights` lists them, `tbemc step --load` takes weights)"
                                  : "a binary file"));
  }
  return source;
}

std::string Workspace::beside(const std::string& extension) const {
  if (path.empty() || path == "-") return {};
  return std::filesystem::path(path).replace_extension(extension).string();
}

namespace {

bool declaresDesign(const ast::File& file) {
  return std::any_of(file.declarations.begin(), file.declarations.end(),
                     [](const ast::Decl* decl) { return decl->kind == ast::NodeKind::Design; });
}

/// The text without its designs and what is declared of them: blanks in their place, so that all else keeps its line and column.
std::string withoutDesigns(std::string text, const ast::File& file) {
  using ast::NodeKind;
  for (const ast::Decl* decl : file.declarations) {
    constexpr NodeKind kOfDesigns[] = {NodeKind::Design, NodeKind::Measure, NodeKind::Regress, NodeKind::Predict,
                                       NodeKind::Train};
    if (std::find(std::begin(kOfDesigns), std::end(kOfDesigns), decl->kind) == std::end(kOfDesigns)) continue;
    const std::size_t begin = decl->range.begin - file.source->base;
    const std::size_t end = decl->range.end - file.source->base;
    for (std::size_t at = begin; at < std::min(end, text.size()); ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  }
  return text;
}

/// The last network of a file that has no design, for `--input`.
std::string onlyNetwork(const ast::File& file) {
  std::string name;
  for (const ast::Decl* decl : file.declarations) {
    const auto* callable = ast::dynCast<ast::Callable>(decl);
    if (callable != nullptr && callable->callable == ast::CallableKind::Network) name = callable->name.text;
  }
  return name;
}

/// What the command line says of a design that it makes, as a message begins; "" where it says nothing.
std::string given(const ProgramRequest& program) {
  if (!program.inputs.empty()) return "--input " + program.inputs.front();
  if (!program.task.empty()) return "--task";
  if (!program.groups.empty()) return "--optimizer " + program.groups.front();
  return program.freeze.empty() ? "" : "--freeze " + program.freeze.front();
}

/// The program's text. Errors are those of loadWorkspace.
tl::expected<const Source*, Failed> sourceOf(const Request& request, Workspace& workspace, const std::string& path) {
  if (request.program.text && path.empty()) {
    if (!isExpression(*request.program.text)) {
      if (const std::string shape = given(request.program); !shape.empty()) {
        return failed(kUsage, fmt::format("{}: the text of -e is a program, which says it itself", shape));
      }
      return &workspace.session.sources.add("<-e>", *request.program.text);
    }
    const auto design = oneRowDesign(request, *request.program.text);
    if (design) return &workspace.session.sources.add("<-e>", *design);
    return failed(kUsage, design.error());
  }
  const bool again = files::isInherited(path) && *request.program.inherited;
  const Source* source = nullptr;
  if (request.program.contents) {
    source = &workspace.session.sources.add(path, *request.program.contents);
  } else if (again) {
    source = &workspace.session.sources.add(nameOf(path), **request.program.inherited);
  } else {
    const auto read = readSource(workspace.session, path);
    if (!read) return tl::unexpected(read.error());
    source = *read;
  }
  if (files::isInherited(path) && !request.program.contents) *request.program.inherited = source->text;
  const ProgramRequest& asked = request.program;
  if (given(asked).empty() && !asked.text) return source;
  if (request.program.text && !isExpression(*request.program.text)) {
    return failed(kUsage,
                  fmt::format("-e '{}': beside a file it is an expression of one of its networks, such as 'net(width: 64)'",
                              *request.program.text));
  }
  Session trial;
  const Source& copy = trial.sources.add(source->name, source->text);
  const std::unique_ptr<ast::File> file = syntax::parse(copy, trial.sink);
  if (trial.sink.hasErrors()) return source;
  if (declaresDesign(*file) && !request.program.text) {
    const char* const says = !asked.inputs.empty()   ? "the shapes of its inputs; change them there"
                             : !asked.task.empty()   ? "its task; change it there"
                             : !asked.groups.empty() ? "its optimisers; change them there"
                                                     : "what is frozen; change it there";
    return failed(kUsage, fmt::format("{}: the program has a design, which says {}", given(asked), says));
  }
  const std::string network = request.program.text ? *request.program.text : onlyNetwork(*file);
  if (network.empty()) return source;
  const auto design = oneRowDesign(request, network);
  if (!design) {
    return failed(kUsage, design.error());
  }
  return &workspace.session.sources.add(source->name, withoutDesigns(source->text, *file) + "\n" + *design);
}

sema::LoadOptions loadOptions(const Request& request) {
  if (!request.places) return sema::LoadOptions::fromEnvironment();
  sema::LoadOptions options;
  options.path = request.places->modules;
  options.stdlib = request.places->stdlib;
  return options;
}

}  // namespace

tl::expected<std::unique_ptr<Workspace>, Failed> loadWorkspace(const Request& request, const std::string& path) {
  auto workspace = std::make_unique<Workspace>();
  workspace->path = files::isInherited(path) ? "-" : path;
  const auto source = sourceOf(request, *workspace, path);
  if (!source) return tl::unexpected(source.error());
  workspace->load = loadOptions(request);
  workspace->load.allStandard = request.program.text && path.empty();
  workspace->program = sema::load(workspace->session.sources, workspace->session.sink, **source, workspace->load);
  return workspace;
}

std::unique_ptr<Workspace> workspaceOf(std::string path, std::string name, std::string text, const sema::LoadOptions& load) {
  auto workspace = std::make_unique<Workspace>();
  workspace->path = std::move(path);
  workspace->load = load;
  const Source& source = workspace->session.sources.add(std::move(name), std::move(text));
  workspace->program = sema::load(workspace->session.sources, workspace->session.sink, source, workspace->load);
  return workspace;
}

std::unique_ptr<Workspace> withText(const Workspace& from, std::string text) {
  return workspaceOf(from.path, from.file().source->name, std::move(text), from.load);
}

tl::expected<std::unique_ptr<Workspace>, Failed> loadWorkspace(const Request& request) {
  return loadWorkspace(request, request.program.files.empty() ? std::string() : request.program.files.front());
}

}  // namespace tbem::driver
