// Modules: the program's own file, the standard library, and what they import.
//
// `std.X` is all files of folder `stdlib/X/` together; `std.nn` is there without asking. A user's module `a.b` is the file
// `a/b.tbem` beside the program, then in the folders of TBEM_PATH. Names of a file win over imports, imports over the prelude.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbem::sema {

struct Module;

/// What a name at top level means: a declaration and the module it stands in, or a module.
struct Resolved {
  const ast::Decl* decl = nullptr;
  const Module* module = nullptr;
  explicit operator bool() const { return module != nullptr; }
};

struct Module {
  std::string name;  ///< "std.nn", "a.b"; "" for the program itself
  bool isStandard = false;
  const Module* home = nullptr;  ///< the standard module of which this program is a file: its private names are in scope
  std::vector<std::unique_ptr<ast::File>> files;
  std::unordered_map<std::string, const ast::Decl*> own;
  std::unordered_map<std::string, Resolved> imported;      ///< `import m: x`
  std::unordered_map<std::string, const Module*> modules;  ///< `import m`, `import m as c`, by the word used in the file
};

/// A template made of another (Derive.h).
struct Derivation {
  const ast::Mutate* mutation = nullptr;
  const Module* module = nullptr;  ///< where it stands: its levels, and what it inserts, mean what they mean there
  Resolved base;                   ///< the callable that it changes, which may be derived too
  const ast::Callable* result = nullptr;
  ast::File nodes;  ///< owns the result and what is in it but not in the base
};

struct LoadOptions {
  std::vector<std::string> path;      ///< folders of TBEM_PATH
  std::optional<std::string> stdlib;  ///< TBEM_STDLIB: a folder instead of the embedded library
  bool allStandard = false;           ///< every public name of `std` is in scope (`-e`, the REPL)
  /// What a program with mistakes of syntax imports is read too, and nothing said of it: an editor asks what its names mean.
  bool pastSyntax = false;
  /// Both variables of the environment.
  static LoadOptions fromEnvironment();
};

/// All modules of one program. Owns the trees; addresses are stable.
class Program {
public:
  Module& main() { return *all.front(); }
  const Module& main() const { return *all.front(); }
  const std::vector<std::unique_ptr<Module>>& modules() const { return all; }
  /// The module of that name, or nullptr.
  const Module* find(std::string_view name) const;
  /// What `name` means in `module`: its own, imported, the prelude's. Empty where it means nothing.
  Resolved resolve(const Module& module, std::string_view name) const;
  /// A public member of `module` seen from `from`.
  Resolved member(const Module& module, std::string_view name, const Module& from) const;
  /// Every name that `resolve` knows, for did-you-mean.
  std::vector<std::string> names(const Module& module) const;
  /// How the callable was made of another; nullptr for one that was written out.
  const Derivation* derivation(const ast::Decl* callable) const;
  /// The module in which a parameter of `callable` (itself of `module`) was written; without one, its body. A derived callable
  /// has its base's, but for its own parameters.
  const Module* homeOf(const ast::Decl* callable, const Module* module, std::string_view parameter = {}) const;

  std::vector<std::unique_ptr<Derivation>> derivations;

private:
  friend class Loader;
  std::vector<std::unique_ptr<Module>> all;
  std::vector<const Module*> preludes;  ///< in order of search
};

/// Parses `main` and everything it imports; mistakes go to `sink`. Never null.
std::unique_ptr<Program> load(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options);

/// A declaration that has a name which others can use.
bool isNamed(const ast::Decl& decl);

}  // namespace tbem::sema
