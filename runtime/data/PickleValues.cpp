#include "runtime/data/Pickle.h"

#include <bit>

namespace tbem::data {

double PickleValues::real(Value value) const {
  const Node& node = nodes[value];
  return node.kind == Kind::Real ? std::bit_cast<double>(node.number)
                                 : static_cast<double>(static_cast<std::int64_t>(node.number));
}

const PickleValues::Value* PickleValues::find(Value dictionary, std::string_view key) const {
  if (kind(dictionary) != Kind::Dictionary) return nullptr;
  const std::vector<Value>& entries = lists[nodes[dictionary].number];
  for (std::size_t i = entries.size(); i >= 2; i -= 2) {
    if (kind(entries[i - 2]) == Kind::Text && text(entries[i - 2]) == key) return &entries[i - 1];
  }
  return nullptr;
}

}  // namespace tbem::data
