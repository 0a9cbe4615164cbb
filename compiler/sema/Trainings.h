// Which names of a program are trainings.
#pragma once

#include "compiler/sema/Modules.h"
#include "compiler/syntax/tree/AstNodes.h"

#include <string_view>

namespace tbem::sema {

/// Whether the name is that of a `train` of the program.
inline bool isTraining(const Program& program, std::string_view name) {
  const Resolved found = program.resolve(program.main(), name);
  return found.decl != nullptr && found.decl->kind == ast::NodeKind::Train;
}

}  // namespace tbem::sema
