// Edits that an editor offers for what is wrong.
#pragma once

#include "compiler/serve/Reading.h"

#include <string>
#include <vector>

namespace tbem::serve {

struct OfferedFix {
  std::string title;  ///< "replace `dens` by `dense`"
  const Diagnostic* of = nullptr;
  std::vector<Fix> edits;  ///< in the program's own file
  bool certain = false;
};

/// Of the diagnostics whose range meets this one, and at the end one for all that are certain, where there are several.
std::vector<OfferedFix> fixesAt(const Reading& reading, SrcRange range);

}  // namespace tbem::serve
