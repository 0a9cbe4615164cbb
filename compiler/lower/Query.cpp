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

std::vector<std::int64_t> flattenAttributes(const graph::Op& op, const sema::Values& values, std::size_t inputRank,
                                            std::size_t outputRank, std::string& wrong) {
  std::vector<std::int64_t> flat;
  const runtime::Signature& row = runtime::signature(op.primitive);
  std::string_view rest = row.attributes;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t bracket = word.find('[');
    const std::string name(word.substr(0, bracket));
    const auto given = std::find_if(op.attributes.begin(), op.attributes.end(),
                                    [&name](const graph::Attribute& attribute) { return attribute.name == name; });
    if (given == op.attributes.end()) {
      wrong = "`" + name + "` of `" + std::string(row.name) + "` is missing";
      return {};
    }
    std::vector<std::int64_t> numbers;
    for (const sema::ExprId id : given->values) {
      if (values.errorOf(id) != sema::EvalError::None || !values[id].isInt()) {
        wrong = "`" + name + "` of `" + std::string(row.name) + "` " +
                (values.errorOf(id) != sema::EvalError::None ? std::string(describe(values.errorOf(id))) : "is not an integer");
        return {};
      }
      numbers.push_back(values.integer(id));
    }
    std::size_t count = 1;
    if (bracket != std::string_view::npos) {
      const bool isList = word[bracket + 1] == '*';
      const bool drops = name == "axis";
      count = !isList ? static_cast<std::size_t>(word[bracket + 1] - '0')
                      : (drops ? inputRank - std::min(inputRank, outputRank) : inputRank);
      // The gradient of a reduction has the reduced tensor first and the full one as its result.
      if (isList && drops && op.primitive == TBEM_PRIMITIVE_reduce_max_gradient)
        count = outputRank - std::min(inputRank, outputRank);
      if (isList) {
        if (numbers.size() == count + 1 && numbers[0] == static_cast<std::int64_t>(count)) numbers.erase(numbers.begin());
        flat.push_back(static_cast<std::int64_t>(count));
      }
    }
    if (numbers.size() != count) {
      wrong = "`" + name + "` of `" + std::string(row.name) + "` has " + std::to_string(numbers.size()) + " values, not " +
              std::to_string(count);
      return {};
    }
    flat.insert(flat.end(), numbers.begin(), numbers.end());
  }
  return flat;
}

}  // namespace tbem::estimate
