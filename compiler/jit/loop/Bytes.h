// Canonical bytes of a description, to compare and to hash. Every value takes eight bytes, every list begins with its length.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::jit {

struct Bytes {
  std::string text;

  template <class T>
  void number(T value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i) text.push_back(static_cast<char>(bits >> (8 * i)));
  }
  template <class T>
  void list(const std::vector<T>& values) {
    number(values.size());
    for (const T& v : values) number(v);
  }
  void string(std::string_view value) {
    number(value.size());
    text.append(value);
  }
  void nodes(const std::vector<graph::ElemNode>& nodes) {
    number(nodes.size());
    for (const auto& n : nodes) {
      number(n.op);
      number(n.a);
      number(n.b);
      number(n.c);
      number(n.input);
      number(n.value.num);
      number(n.value.den);
      number(n.stream);
      number(n.dtype);
    }
  }
};

}  // namespace tbem::jit
