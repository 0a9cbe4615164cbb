// The text of a process's `comment`, which is no program. Internal to this folder.
#pragma once

#include "compiler/diagnostics/Source.h"

#include <antlr4-runtime.h>

#include <memory>
#include <vector>

namespace tbem::syntax {

/// Makes one token FREE_TEXT of all that stands behind the word `comment` where it begins a clause of a process, up to the next
/// clause or `end_process` that begins a line, or an `end_process` behind a `;`; the word becomes a REMARK. A process that never
/// ends has text to the end of the line.
void foldFreeText(std::vector<std::unique_ptr<antlr4::Token>>& raw, const Source& source);

}  // namespace tbem::syntax
