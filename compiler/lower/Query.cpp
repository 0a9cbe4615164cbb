#include "compiler/lower/Query.h"
#include "runtime/include/tbem/primitives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string_view>

namespace tbem::estimate {

namespace {
template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// What can be seen of a description: unused array entries would make equal questions differ.
std::string keyOf(const tbem_backend& backend, const Question& question) {
  std::string key = backend.name;
  put(key, question.primitive);
  put(key, question.threads);
  put(key, question.algorithm);
  put(key, question.tf32);
  for (const tbem_operand& operand : question.operands) {
    put(key, operand.present);
    if (operand.present == 0) continue;
    put(key, operand.dtype);
    put(key, operand.rank);
    put(key, operand.layout.any);
    for (int k = 0; k < operand.rank; ++k) put(key, operand.dims[k]);
    if (operand.layout.any != 0) continue;
    for (int k = 0; k < operand.rank; ++k) {
      put(key, operand.layout.strides[k]);
      put(key, operand.layout.padded[k]);
    }
    put(key, operand.layout.blocks);
    for (int b = 0; b < operand.layout.blocks; ++b) {
      put(key, operand.layout.block_dim[b]);
      put(key, operand.layout.block_size[b]);
    }
    put(key, operand.layout.bytes);
  }
  for (const std::int64_t attribute : question.attributes) put(key, attribute);
  return key;
}
}  // namespace

const Answer& QueryCache::Impl::ask(const tbem_backend& backend, const Question& question) {
  const auto [at, fresh] = answers.try_emplace(keyOf(backend, question));
  Answer& answer = at->second;
  if (!fresh) return answer;
  answer.operands = question.operands;
  tbem_op_desc description{};
  description.size = sizeof description;
  description.primitive = question.primitive;
  description.inputs = static_cast<std::int32_t>(question.inputs);
  description.outputs = static_cast<std::int32_t>(question.operands.size() - question.inputs);
  description.operands = answer.operands.data();
  description.attributes = question.attributes.data();
  description.attribute_count = static_cast<std::int32_t>(question.attributes.size());
  description.threads = question.threads;
  description.algorithm = question.algorithm;
  description.tf32 = question.tf32 ? 1 : 0;
  const auto start = std::chrono::steady_clock::now();
  answer.status = backend.query(&description, &answer.info);
  if (answer.status != TBEM_OK) {
    const char* message = backend.last_error != nullptr ? backend.last_error() : nullptr;
    answer.error = message != nullptr && *message != '\0' ? message : "it gives no reason";
  }
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const tbem_operand& operand : answer.operands) {
    if (answer.status == TBEM_OK && operand.present != 0 && operand.layout.any != 0) {
      answer.status = TBEM_INVALID;
      answer.error = "it left a layout open";
    }
  }
  return answer;
}

QueryCache::QueryCache() : data(std::make_unique<Impl>()) {}
QueryCache::~QueryCache() = default;
QueryCache::QueryCache(QueryCache&&) noexcept = default;
QueryCache& QueryCache::operator=(QueryCache&&) noexcept = default;
std::size_t QueryCache::size() const { return data->answers.size(); }
double QueryCache::seconds() const { return data->seconds; }

}  // namespace tbem::estimate
