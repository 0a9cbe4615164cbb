// Questions to a backend, each asked once. Inside compiler/estimate only.
#pragma once

#include "compiler/lower/Lowering.h"

#include <functional>
#include <unordered_map>

namespace tbem::estimate {

/// The operator's attributes as the primitive's row lists them. A list (`axis[*]`) is preceded by its length, which the ranks
/// of the first input and the first result tell: axes that are dropped, or one number a dimension. `wrong`: what is, in words.
std::vector<std::int64_t> flattenAttributes(const graph::Op& op, const sema::Values& values, std::size_t inputRank,
                                            std::size_t outputRank, std::string& wrong);

/// What a backend is asked of one operator; all of it must outlive the question.
struct Question {
  tbem_primitive primitive{};
  const std::vector<tbem_operand>& operands;  ///< inputs, then results
  std::size_t inputs = 0;
  const std::vector<std::int64_t>& attributes;
  int threads = 1;
  std::int32_t algorithm = 0;
};

struct QueryCache::Impl {
  std::unordered_map<std::string, Answer> answers;  ///< addresses stay valid
  double seconds = 0;
  const Answer& ask(const tbem_backend& backend, const Question& question);
};

}  // namespace tbem::estimate
