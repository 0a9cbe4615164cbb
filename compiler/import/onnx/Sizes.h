// Sizes of tensors that depend on open sizes of the inputs, as products of a number and symbols. Internal to compiler/import.
#pragma once

#include "compiler/import/Exported.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::imports {

/// A node that has no form here: why. Whoever reads nodes catches it.
struct NoForm {
  std::string why;
};

/// A size within 2^48, as sums and products of others have to be; throws NoForm.
std::int64_t checkedSize(__int128 number);

inline Size sizeOf(std::int64_t number) { return {number, ""}; }
Size product(const Size& left, const Size& right);
/// Nothing where the number does not divide.
std::optional<Size> quotient(const Size& left, const Size& right);
/// Of this number, computed from others in a way that has no product: `text` says how, by their symbols.
Size computed(std::int64_t number, const std::string& text, const std::vector<Size>& from);
Size productOf(const std::vector<Size>& sizes);
/// Shapes as ONNX broadcasts them; nothing where they do not fit.
std::optional<std::vector<Size>> broadcast(const std::vector<Size>& left, const std::vector<Size>& right);

}  // namespace tbem::imports
