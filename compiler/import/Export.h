// Runs torch.export in a Python of its own process, which has the model.
#pragma once

#include "compiler/import/Exported.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::imports {

/// An input of the model for which it is exported.
struct ExportInput {
  std::string name;  ///< of a parameter of `forward`; another one: the next by position
  std::vector<std::int64_t> shape;
  std::string type = "f32";
};

struct ExportRequest {
  std::string python;     ///< the program; without "/" it is looked for in PATH
  std::string target;     ///< "package.module:name" or "model.py:name"
  std::string arguments;  ///< that the name is called with, as Python reads them
  std::vector<ExportInput> inputs;
  std::string sizes = "batch";    ///< that stay open: "batch", "all", "fixed"
  double timeLimit = 0;           ///< seconds; 0: none
  std::uint64_t memoryLimit = 0;  ///< bytes of address space; 0: none
};

/// "image=16,3,224,224" or "tokens=4,128:i64". Errors: what is wrong with the text.
tl::expected<ExportInput, std::string> exportInput(const std::string& text);

/// The document that readExport reads, which may be a failure of the model. Errors: Python cannot be run, ran too long, or ended
/// in a crash, with the end of what it said.
tl::expected<std::string, ExportFailure> exportModel(const ExportRequest& request);

}  // namespace tbem::imports
