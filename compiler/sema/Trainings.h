// What clauses say of trainings.
#pragma once

#include "compiler/sema/Modules.h"
#include "compiler/syntax/tree/AstNodes.h"

namespace tbem::sema {

/// Of what `weights` of a clause `examples` says: a name that is no training's, and so a factor's. Null: it is something else.
inline const ast::Name* factorOfWeights(const Program& program, const ast::Expr* weights) {
  const auto* name = ast::dynCast<ast::NameRef>(weights);
  if (name == nullptr) return nullptr;
  const Resolved found = program.resolve(program.main(), name->name.text);
  const bool isTraining = found.decl != nullptr && found.decl->kind == ast::NodeKind::Train;
  return isTraining ? nullptr : &name->name;
}

}  // namespace tbem::sema
