// Standard modules that outlive their program: a program of the same session, checked after an edit, takes them over.
#pragma once

#include "compiler/sema/Modules.h"

#include <memory>
#include <vector>

namespace tbem::sema {

/// A standard module with what was derived in it. Its trees point to sources of the program that had it last.
struct KeptModule {
  std::unique_ptr<Module> module;
  Loc base = 0;  ///< of its first file
  std::vector<std::unique_ptr<Derivation>> derivations;
};

/// What one program hands to the next. Modules are in the order in which they were read, which is that of their places: places in
/// a tree stay right only where its source comes to lie where it lay before, so the program's own file has a stretch of places of
/// one length before them, whatever its own length is.
struct KeptModules {
  std::vector<KeptModule> modules;
  Loc reserved = Loc{1} << 16U;  ///< of the first place behind the program's own file
};

/// As `load` of Modules.h, with the same result but for the places of other files than `main`, which is the first of `sources`.
/// Takes the modules that it needs out of `kept`; with a library of LoadOptions::stdlib none.
std::unique_ptr<Program> load(SourceManager& sources, DiagnosticSink& sink, const Source& main, const LoadOptions& options,
                              KeptModules& kept);

/// Gives the standard modules of a program back.
void keep(std::unique_ptr<Program> program, KeptModules& kept);

}  // namespace tbem::sema
