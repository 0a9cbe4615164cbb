// What of a sink is told: a mistake of a program that several of its graphs, rows or designs make is told once.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include <cstddef>
#include <functional>

namespace tbem {

/// Takes out of the sink what stands behind its first `from` diagnostics and says again what one before it says: of the same
/// kind, in the same place, with the same message. Its levels are added to those of the first.
void mergeRepeats(DiagnosticSink& sink, std::size_t from = 0);

/// Takes out of the sink what does not stay.
void keepOnly(DiagnosticSink& sink, const std::function<bool(const Diagnostic&)>& stays);

}  // namespace tbem
