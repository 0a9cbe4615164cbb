// Templates of templates: `mutate f of base { ... }` declares a callable with the base's tensors, parameters, results and body,
// and one parameter more for each operation. What the operations do to the body is for whoever evaluates it
// (graph/pass/Mutation.h).
#pragma once

#include "compiler/sema/Modules.h"

namespace tbem::sema {

/// Puts a callable in the place of every `mutate` of the module. What it is made of is kept in `Program::derivation`. A base that
/// is no network or block, and parameters that bear one name, are reported.
void deriveTemplates(Program& program, Module& module, DiagnosticSink& sink);

}  // namespace tbem::sema
