#include "compiler/serve/Reading.h"

namespace tbem::serve {

namespace {

/// The first declaration of any module for which `is` holds.
template <class Is>
Declared find(const sema::Program& program, const Is& is) {
  for (const auto& module : program.modules()) {
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (is(*decl)) return {decl, module.get()};
      }
    }
  }
  return {};
}

}  // namespace

Reading::Reading(const driver::Workspace& workspace) : workspace(workspace), source(*workspace.file().source) {}

const sema::Uses& Reading::uses() const {
  if (!found) found = sema::findUses(program(), program().main());
  return *found;
}

Declared Reading::named(SrcRange name) const {
  if (!name.valid()) return {};
  return find(program(), [&](const ast::Decl& decl) { return decl.name.range == name; });
}

Declared Reading::holding(SrcRange range) const {
  if (!range.valid()) return {};
  return find(program(), [&](const ast::Decl& decl) { return holds(decl.range, range); });
}

}  // namespace tbem::serve
