// Names of every declaration in the user's files, also of those that nothing calls: unknown and doubled names, shadowing,
// assignments to what is no `var`, values never used, arguments that do not fit a known callee.
#pragma once

#include "compiler/sema/Modules.h"

namespace tbem::sema {

/// Reports to `sink`; changes nothing. Standard modules are not checked. False: there were errors, so that evaluating the
/// program would only repeat them.
///
/// After them, where they are right: functions that call themselves, the values of constants, used or not, and the domains of
/// parameters.
bool checkNames(const Program& program, DiagnosticSink& sink);

/// Parameters of the user's files whose `in` is empty, or does not hold the default. Those whose `in` or default names another
/// parameter are looked at where they are called.
void checkDomains(const Program& program, DiagnosticSink& sink);

/// Evaluates every constant of the user's files.
void checkConstants(const Program& program, DiagnosticSink& sink);

}  // namespace tbem::sema
