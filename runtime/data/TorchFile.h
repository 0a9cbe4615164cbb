// Files of torch.save: a ZIP archive with a pickle and the bytes of its storages, or the stream of pickles and bytes that it
// wrote before PyTorch 1.6. Only data are read (Pickle.h): dictionaries of tensors.
#pragma once

#include "runtime/data/Array.h"

#include <tl/expected.hpp>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// Whether the bytes begin as a pickle does (opcode PROTO), or are a ZIP archive that holds one.
bool isPickled(std::string_view bytes);

/// Tensors by their keys, those of dictionaries and lists inside joined by dots: "layer1.0.conv1.weight", in the file's order.
/// Where the outermost dictionary has the weights of a model beside other things, under "state_dict", "model_state_dict",
/// "model_state" or "model", these alone, by their names there.
struct TorchFile {
  std::vector<ArrayView> arrays;  ///< views into the file, and into `unpacked`
  std::deque<std::string> unpacked;
  std::map<std::string, std::string, std::less<>> metadata;  ///< "read from": that key; "not read": the keys beside it
};

/// `file` must outlive the views. Tensors with strides are copied in row-major order; all copies together are at most four times
/// as large as the file. Errors: what is wrong with the file.
tl::expected<TorchFile, std::string> parseTorchFile(std::string_view file);

}  // namespace tbem::data
