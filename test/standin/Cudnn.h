// A libcudnn that computes convolutions in plain loops: descriptors are what was set in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tbem::standin {

constexpr int kFine = 0, kBadParameter = 2000, kUnsupported = 3000, kFailed = 5000;

/// A backend descriptor. Numbers are cuDNN's (cudnn_graph.h).
struct Descriptor {
  int type = 0;
  bool finished = false;
  std::map<int, std::vector<std::byte>> values;
  std::map<int, std::vector<std::shared_ptr<Descriptor>>> parts;

  /// The values of an attribute as T; none where it was not set.
  template <class T>
  std::vector<T> list(int attribute) const {
    const auto known = values.find(attribute);
    if (known == values.end()) return {};
    const auto* const first = reinterpret_cast<const T*>(known->second.data());
    return {first, first + known->second.size() / sizeof(T)};
  }
  template <class T>
  T one(int attribute) const {
    const std::vector<T> all = list<T>(attribute);
    return all.empty() ? T{} : all.front();
  }
  const Descriptor* part(int attribute) const {
    const auto known = parts.find(attribute);
    return known == parts.end() || known->second.empty() ? nullptr : known->second.front().get();
  }
};

/// How many plans were finished.
int madePlans();

/// Bytes of a value of a type.
std::size_t bytesOf(int type);

/// kFine where the descriptor may be finished as it is; a heuristic gets its results.
int finish(Descriptor& descriptor);
/// Runs a finished plan.
int execute(const Descriptor& plan, const Descriptor& pack, void* stream);

}  // namespace tbem::standin
