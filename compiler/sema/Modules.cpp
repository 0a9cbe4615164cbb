#include "compiler/sema/Modules.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Derive.h"
#include "compiler/sema/Kept.h"
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

/// Loads a program's modules. One class: imports lead to modules that import, over one table of modules and one of names.
class Loader {
public:
  /// `kept` may be null.
  Loader(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options, KeptModules* kept)
      : sources(sources), sink(sink), mainSource(main), options(options), kept(options.stdlib ? nullptr : kept) {}

  std::unique_ptr<Program> run() {
    program->all.push_back(std::make_unique<Module>());
    Module& main = *program->all.front();
    addFile(main, mainSource);
    // Else nobody looks further, and the library takes longer to read.
    if (!sink.hasErrors())
      readRest(main);
    else if (options.pastSyntax)
      reportsOf(sink, [&] { readRest(main); });
    return std::move(program);
  }

  static void giveBack(Program& program, KeptModules& kept) {
    std::vector<KeptModule> modules;
    for (auto& module : program.all) {
      if (!module->isStandard) continue;
      KeptModule& one = modules.emplace_back();
      one.base = module->files.front()->source->base;
      for (auto& derivation : program.derivations) {
        if (derivation != nullptr && derivation->module == module.get()) one.derivations.push_back(std::move(derivation));
      }
      one.module = std::move(module);
    }
    // Those that this program did not need stay behind those that it had.
    for (std::size_t i = modules.size(); i < kept.modules.size(); ++i) modules.push_back(std::move(kept.modules[i]));
    kept.modules = std::move(modules);
  }

private:
  /// All but the program's own file.
  void readRest(Module& main) {
    if (kept != nullptr) reservePlaces();
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
  }

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

  /// Fills the places between the program's own file and the first of the library.
  void reservePlaces() {
    const auto used = static_cast<Loc>(mainSource.text.size()) + 2;
    if (kept->reserved <= used) {
      kept->modules.clear();
      while (kept->reserved <= used) kept->reserved *= 2;
    }
    sources.add("", std::string(kept->reserved - used - 1, ' '));
  }

  /// The next kept module, where it is this one and its files lie where they lay; else nullptr, and no later one is taken.
  Module* takeKept(const std::string& name, const std::vector<std::pair<std::string, const Source*>>& files) {
    if (kept == nullptr || takes == kept->modules.size()) return nullptr;
    KeptModule& next = kept->modules[takes];
    if (next.module->name != name || next.base != files.front().second->base) {
      kept->modules.resize(takes);
      return nullptr;
    }
    ++takes;
    for (std::size_t f = 0; f < files.size(); ++f) next.module->files[f]->source = files[f].second;
    program->all.push_back(std::move(next.module));
    for (auto& derivation : next.derivations) program->derivations.push_back(std::move(derivation));
    return program->all.back().get();
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
  std::vector<std::string> standardNames() {
    std::set<std::string> names;
    for (const auto& [name, text] : standardFiles()) names.insert("std." + name.substr(0, name.find('/')));
    return {names.begin(), names.end()};
  }

  const std::map<std::string, std::string>& standardFiles() {
    if (library.empty()) library = readLibrary();
    return library;
  }

  std::map<std::string, std::string> readLibrary() const {
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
    std::vector<std::pair<std::string, const Source*>> files;
    for (const auto& [file, text] : standardFiles()) {
      if (file.starts_with(folder)) files.emplace_back(file, &sources.add(options.stdlib.value_or("<std>") + "/" + file, text));
    }
    if (files.empty()) return nullptr;
    if (Module* module = takeKept(name, files)) {
      readImports(*module);  // says what it said before, and loads the modules that it names
      return module;
    }
    program->all.push_back(std::make_unique<Module>());
    Module* const module = program->all.back().get();
    module->name = name;
    module->isStandard = true;
    for (const auto& [file, source] : files) {
      if (options.stdlib)
        addFile(*module, *source);
      else
        addEmbedded(*module, file, *source);
    }
    readImports(*module);
    deriveTemplates(*program, *module, sink);
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
      suggest(sink.report(diag::not_in_module, wanted.range, name, wanted.text), wanted, candidates, {});
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
  KeptModules* kept;
  std::size_t takes = 0;  ///< of the kept modules, those that this program has
  std::unique_ptr<Program> program = std::make_unique<Program>();
  std::map<std::string, std::string> library;  ///< once it was asked for: texts of the standard library's files, by name
  std::vector<std::string> open;               ///< user modules being read
};

std::unique_ptr<Program> load(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options) {
  return Loader(sources, sink, main, options, nullptr).run();
}

std::unique_ptr<Program> load(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options,
                              KeptModules& kept) {
  return Loader(sources, sink, main, options, &kept).run();
}

void keep(std::unique_ptr<Program> program, KeptModules& kept) { Loader::giveBack(*program, kept); }

}  // namespace tbem::sema
