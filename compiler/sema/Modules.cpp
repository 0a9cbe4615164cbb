#include "compiler/sema/Modules.h"

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Derive.h"
#include "compiler/sema/Suggest.h"
#include "compiler/support/Bug.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Pack.h"
#include "runtime/files/Read.h"

#include <embedded/tbem_stdlib.h>
#include <embedded/tbem_stdlib_trees.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

namespace tbem::sema {

namespace {
/// What every program sees without asking.
constexpr std::array<std::string_view, 2> kPreludes = {"std.nn", "std.data"};

/// Modules that may be open at once, each imported by the one before: reading them takes stack.
constexpr std::size_t kMostOpen = 200;

std::string joined(const std::vector<ast::Name>& path) {
  std::string text;
  for (const ast::Name& part : path) text += (text.empty() ? "" : ".") + part.text;
  return text;
}
SrcRange rangeOf(const std::vector<ast::Name>& path) {
  return path.empty() ? SrcRange{} : cover(path.front().range, path.back().range);
}
}  // namespace

bool isNamed(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::NodeKind::Import:
    case ast::NodeKind::Measure:
    case ast::NodeKind::Predict:
    case ast::NodeKind::Fit:
    case ast::NodeKind::Assume:
      return false;
    default:
      return !decl.name.empty();
  }
}

LoadOptions LoadOptions::fromEnvironment() {
  LoadOptions options;
  if (const char* folder = std::getenv("TBEM_STDLIB"); folder != nullptr && *folder != '\0') options.stdlib = folder;
  if (const char* list = std::getenv("TBEM_PATH"); list != nullptr) {
    std::stringstream stream(list);
    for (std::string part; std::getline(stream, part, ':');) {
      if (!part.empty()) options.path.push_back(part);
    }
  }
  return options;
}

// ---- Looking up -------------------------------------------------------------------------------------------------------

const Module* Program::find(std::string_view name) const {
  for (const auto& module : all) {
    if (module->name == name) return module.get();
  }
  return nullptr;
}

Resolved Program::resolve(const Module& module, std::string_view name) const {
  const std::string key(name);
  if (const auto it = module.own.find(key); it != module.own.end()) return {it->second, &module};
  if (const auto it = module.imported.find(key); it != module.imported.end()) return it->second;
  if (const auto it = module.modules.find(key); it != module.modules.end()) return {nullptr, it->second};
  if (module.home != nullptr) {
    if (const auto it = module.home->own.find(key); it != module.home->own.end()) return {it->second, module.home};
  }
  for (const Module* prelude : preludes) {
    if (const auto it = prelude->own.find(key); it != prelude->own.end() && (!it->second->isPrivate || prelude == &module)) {
      return {it->second, prelude};
    }
  }
  return {};
}

Resolved Program::member(const Module& module, std::string_view name, const Module& from) const {
  const auto it = module.own.find(std::string(name));
  if (it == module.own.end() || (it->second->isPrivate && &module != &from)) return {};
  return {it->second, &module};
}

std::vector<std::string> Program::names(const Module& module) const {
  std::set<std::string> found;
  for (const auto& [name, decl] : module.own) found.insert(name);
  for (const auto& [name, what] : module.imported) found.insert(name);
  for (const auto& [name, what] : module.modules) found.insert(name);
  for (const Module* prelude : preludes) {
    for (const auto& [name, decl] : prelude->own) {
      if (!decl->isPrivate) found.insert(name);
    }
  }
  return {found.begin(), found.end()};
}

const Derivation* Program::derivation(const ast::Decl* callable) const {
  for (const auto& one : derivations) {
    if (one->result == callable) return one.get();
  }
  return nullptr;
}

const Module* Program::homeOf(const ast::Decl* callable, const Module* module, std::string_view parameter) const {
  for (const Derivation* made = derivation(callable); made != nullptr; made = derivation(callable)) {
    for (const ast::Mutate::Operation& operation : made->mutation->operations) {
      if (operation.as.text == parameter) return made->module;
    }
    callable = made->base.decl;
    module = made->base.module;
  }
  return module;
}

// ---- Loading ----------------------------------------------------------------------------------------------------------

class Loader {
public:
  Loader(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options)
      : sources(sources), sink(sink), mainSource(main), options(options), program(std::make_unique<Program>()) {}

  std::unique_ptr<Program> run() {
    program->all.push_back(std::make_unique<Module>());
    Module& main = *program->all.front();
    addFile(main, mainSource);
    if (sink.hasErrors()) return std::move(program);  // nobody looks further, and the library takes longer to read
    for (const std::string_view name : kPreludes) {
      if (const Module* prelude = standard(std::string(name))) program->preludes.push_back(prelude);
    }
    if (options.allStandard) {
      for (const std::string& name : standardNames()) {
        const bool known = std::find(kPreludes.begin(), kPreludes.end(), name) != kPreludes.end();
        if (const Module* module = known ? nullptr : standard(name)) program->preludes.push_back(module);
      }
    }
    main.home = home();
    readImports(main);
    noteHidden(main);
    deriveTemplates(*program, main, sink);
    return std::move(program);
  }

private:
  void addFile(Module& module, const Source& source) {
    std::unique_ptr<ast::File> tree = syntax::parse(source, sink);
    // `-e` takes an expression, and has put it into a design before.
    if (tree->expression != nullptr) {
      sink.report(diag::lone_expression, tree->expression->range)
          .note("a file holds declarations; a network alone is given by `-e`, with `--input`");
    }
    addTree(module, std::move(tree));
  }

  /// A file of the embedded library: its tree was made when the compiler was built.
  void addEmbedded(Module& module, const std::string& name, const Source& source) {
    const auto trees = stdlib_trees::files();
    const auto found = std::find_if(trees.begin(), trees.end(), [&name](const auto& tree) { return tree.name == name; });
    TBEM_CHECK(found != trees.end());
    addTree(module, syntax::unpack(source, found->text));
  }

  void addTree(Module& module, std::unique_ptr<ast::File> tree) {
    module.files.push_back(std::move(tree));
    for (const ast::Decl* decl : module.files.back()->declarations) {
      if (!isNamed(*decl)) continue;
      const auto [it, fresh] = module.own.emplace(decl->name.text, decl);
      if (!fresh)
        sink.report(diag::duplicate_name, decl->name.range, decl->name.text).label(it->second->name.range, "declared here first");
    }
  }

  /// Names of all standard modules: "std.nn", "std.vision", ...
  std::vector<std::string> standardNames() const {
    std::set<std::string> names;
    for (const auto& [name, text] : standardFiles()) names.insert("std." + name.substr(0, name.find('/')));
    return {names.begin(), names.end()};
  }

  std::map<std::string, std::string> standardFiles() const {
    std::map<std::string, std::string> found;
    if (!options.stdlib) {
      for (const auto& file : stdlib::files()) found.emplace(std::string(file.name), std::string(file.text));
      return found;
    }
    std::error_code ignored;
    for (const auto& folder : std::filesystem::directory_iterator(*options.stdlib, ignored)) {
      if (!folder.is_directory()) continue;
      for (const auto& file : std::filesystem::directory_iterator(folder.path(), ignored)) {
        if (file.path().extension() != ".tbem") continue;
        if (auto text = files::readFile(file.path().string(), kMostText))
          found.emplace(folder.path().filename().string() + "/" + file.path().filename().string(), std::move(*text));
      }
    }
    return found;
  }

  /// The standard module of which the program is a file, `stdlib/X/NAME.tbem`; nullptr for any other program.
  const Module* home() {
    const std::filesystem::path path = mainSource.name;
    const std::string folder = path.parent_path().filename().string();
    if (path.parent_path().parent_path().filename() != "stdlib") return nullptr;
    if (standardFiles().count(folder + "/" + path.filename().string()) == 0) return nullptr;
    return standard("std." + folder);
  }

  const Module* standard(const std::string& name) {
    if (const Module* known = program->find(name)) return known;
    const std::string folder = name.substr(4) + "/";
    Module* module = nullptr;
    for (const auto& [file, text] : standardFiles()) {
      if (!file.starts_with(folder)) continue;
      if (module == nullptr) {
        program->all.push_back(std::make_unique<Module>());
        module = program->all.back().get();
        module->name = name;
        module->isStandard = true;
      }
      if (options.stdlib) {
        addFile(*module, sources.add(*options.stdlib + "/" + file, text));
      } else {
        addEmbedded(*module, file, sources.add("<std>/" + file, text));
      }
    }
    if (module != nullptr) {
      readImports(*module);
      deriveTemplates(*program, *module, sink);
    }
    return module;
  }

  const Module* user(const std::string& name, SrcRange use) {
    if (const auto at = std::find(open.begin(), open.end(), name); at != open.end()) {
      std::string chain;
      for (auto it = at; it != open.end(); ++it) chain += *it + " -> ";
      sink.report(diag::import_cycle, use, chain + name);
      return nullptr;
    }
    if (const Module* known = program->find(name)) return known;
    std::string relative = name;
    std::replace(relative.begin(), relative.end(), '.', '/');
    std::vector<std::string> folders{std::filesystem::path(mainSource.name).parent_path().string()};
    folders.insert(folders.end(), options.path.begin(), options.path.end());
    for (const std::string& folder : folders) {
      const std::string path = (folder.empty() ? "" : folder + "/") + relative + ".tbem";
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      if (std::filesystem::equivalent(path, mainSource.name, ignored)) {
        std::string chain = name;
        for (const std::string& one : open) chain += " -> " + one;
        sink.report(diag::import_cycle, use, chain + " -> " + name);
        return nullptr;
      }
      if (open.size() >= kMostOpen) {
        sink.report(diag::imports_too_deep, use, kMostOpen, open.front(), name);
        return nullptr;
      }
      const auto source = sources.addFile(path);
      if (!source) {
        sink.report(diag::unknown_module, use, name).note(source.error());
        return nullptr;
      }
      program->all.push_back(std::make_unique<Module>());
      Module& module = *program->all.back();
      module.name = name;
      open.push_back(name);
      addFile(module, **source);
      readImports(module);
      deriveTemplates(*program, module, sink);
      open.pop_back();
      return &module;
    }
    return nullptr;
  }

  void readImports(Module& module) {
    for (std::size_t f = 0; f < module.files.size(); ++f) {
      for (const ast::Decl* decl : module.files[f]->declarations) {
        if (const auto* import = ast::dynCast<ast::Import>(decl)) readImport(module, *import);
      }
    }
  }

  void readImport(Module& module, const ast::Import& import) {
    const std::string name = joined(import.path);
    const std::size_t before = sink.errorCount();
    const Module* target = name.starts_with("std.") ? standard(name) : user(name, rangeOf(import.path));
    if (target == nullptr) {
      if (sink.errorCount() == before) reportUnknown(import, name);
      return;
    }
    if (import.names.empty()) {
      const std::string word = import.alias.empty() ? import.path.back().text : import.alias.text;
      module.modules[word] = target;
      return;
    }
    for (const ast::Name& wanted : import.names) importName(module, *target, name, wanted);
  }

  void importName(Module& module, const Module& target, const std::string& name, const ast::Name& wanted) {
    const auto it = target.own.find(wanted.text);
    if (it == target.own.end()) {
      std::vector<std::string> candidates;
      for (const auto& [known, decl] : target.own) {
        if (!decl->isPrivate) candidates.push_back(known);
      }
      suggest(sink.report(diag::not_in_module, wanted.range, name, wanted.text), wanted, candidates);
      return;
    }
    if (it->second->isPrivate) {
      sink.report(diag::private_name, wanted.range, wanted.text, name).label(it->second->name.range, "declared here");
      return;
    }
    const auto [known, fresh] = module.imported.emplace(wanted.text, Resolved{it->second, &target});
    if (!fresh && known->second.decl != it->second) {
      sink.report(diag::import_clash, wanted.range, wanted.text, known->second.module->name, name)
          .note("import one of them as a module: `import " + name + "`, then `" + name.substr(name.rfind('.') + 1) + "." +
                wanted.text + "`");
    }
  }

  /// What is meant by `std.text.gpt2`, where a module of the library is followed by one of its names or files; "": nothing.
  std::string libraryModule(const ast::Import& import) {
    const std::vector<ast::Name>& path = import.path;
    if (path.size() != 3 || path[0].text != "std") return {};
    const std::string name = "std." + path[1].text;
    const Module* module = standard(name);
    if (module == nullptr) return {};
    const auto found = module->own.find(path[2].text);
    const bool names = import.names.empty() && import.alias.empty() && found != module->own.end() && !found->second->isPrivate;
    return names ? name + ": " + path[2].text : name;
  }

  void reportUnknown(const ast::Import& import, const std::string& name) {
    Diagnostic& d = sink.report(diag::unknown_module, rangeOf(import.path), name);
    if (!name.starts_with("std.")) {
      std::string file = name;
      std::replace(file.begin(), file.end(), '.', '/');
      d.note("looked for `" + file + ".tbem` beside the program and in TBEM_PATH");
    }
    std::string near = libraryModule(import);
    if (near.empty()) near = nearest(name, standardNames());
    if (!near.empty()) {
      d.note("did you mean `" + near + "`?").fix(rangeOf(import.path), near);
    }
  }

  /// A file's own names win over the prelude, with a note.
  void noteHidden(const Module& main) {
    for (const auto& file : main.files) {
      for (const ast::Decl* decl : file->declarations) {
        if (!isNamed(*decl) || main.own.at(decl->name.text) != decl) continue;
        for (const Module* prelude : program->preludes) {
          if (prelude == main.home) continue;
          const auto it = prelude->own.find(decl->name.text);
          if (it != prelude->own.end() && !it->second->isPrivate) {
            sink.report(diag::hides_prelude, decl->name.range, decl->name.text, prelude->name);
            break;
          }
        }
      }
    }
  }

  SourceManager& sources;
  DiagnosticSink& sink;
  const Source& mainSource;
  const LoadOptions& options;
  std::unique_ptr<Program> program;
  std::vector<std::string> open;  ///< user modules being read
};

std::unique_ptr<Program> load(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options) {
  return Loader(sources, sink, main, options).run();
}

}  // namespace tbem::sema
