// An ONNX file as the graph that torch.export would have given: its operators as those of ATen, its initialisers as weights.
#pragma once

#include "compiler/import/Export.h"
#include "compiler/import/onnx/OnnxModel.h"

#include <string>
#include <string_view>
#include <vector>

namespace tbem::imports {

struct OnnxImport {
  OnnxModel model;  ///< what the weights are views into
  Exported exported;
  std::vector<data::ArrayView> weights;  ///< by the names that they have in `exported`
};

/// `name`: the file's, as texts have it. `given`: numbers for the open dimensions of inputs. Errors: what is wrong with the file,
/// or which numbers are lacking.
tl::expected<OnnxImport, ExportFailure> readOnnx(std::string_view file, const std::string& folder, const std::string& name,
                                                 const std::vector<ExportInput>& given);

}  // namespace tbem::imports
