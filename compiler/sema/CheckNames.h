// Names of every declaration in the user's files, also of those that nothing calls: unknown and doubled names, shadowing,
// assignments to what is no `var`, values never used, arguments that do not fit a known callee.
#pragma once

#include "compiler/sema/Modules.h"

namespace tbem::sema {

/// Reports to `sink`; changes nothing. Standard modules are not checked. False: there were errors, so that evaluating the
/// program would only repeat them.
///
/// After them, where they are right: functions that call themselves, and the values of constants, used or not.
bool checkNames(const Program& program, DiagnosticSink& sink);

/// Evaluates every constant of the user's files.
void checkConstants(const Program& program, DiagnosticSink& sink);

}  // namespace tbem::sema
