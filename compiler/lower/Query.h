// Questions to a backend, each asked once. Inside compiler/estimate only.
#pragma once

#include "compiler/lower/Lowering.h"

#include <functional>
#include <unordered_map>

namespace tbem::estimate {

/// What a backend is asked of one operator; all of it must outlive the question.
struct Question {
  tbem_primitive primitive{};
  const std::vector<tbem_operand>& operands;  ///< inputs, then results
  std::size_t inputs = 0;
  const std::vector<std::int64_t>& attributes;
  int threads = 1;
  std::int32_t algorithm = 0;
  bool tf32 = false;
};

struct QueryCache::Impl {
  std::unordered_map<std::string, Answer> answers;  ///< addresses stay valid
  double seconds = 0;
  const Answer& ask(const tbem_backend& backend, const Question& question);
};

}  // namespace tbem::estimate
