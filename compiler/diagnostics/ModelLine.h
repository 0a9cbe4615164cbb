// Where a line of a written program comes from: `tbemc import` ends lines with `// model.py:92`.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem {

struct ModelLine {
  std::string file;  ///< of Python: as the comment has it; "" where nothing says where the line comes from
  std::uint32_t line = 0;
  bool known() const { return !file.empty(); }
  /// "FILE.py:92"
  std::string text() const;
  friend bool operator==(const ModelLine&, const ModelLine&) = default;
};

/// Of the statement that holds `loc`: the place at the end of its lines, or of the nearest statement above it in the same body,
/// as a place is written once where several statements have it.
ModelLine modelLineOf(const SourceManager& sources, Loc loc);
/// Of all places that the diagnostic names, its own first, each once.
std::vector<ModelLine> modelLinesOf(const SourceManager& sources, const Diagnostic& diagnostic);

}  // namespace tbem
