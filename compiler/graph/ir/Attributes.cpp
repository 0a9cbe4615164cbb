#include "compiler/graph/ir/Attributes.h"

#include "runtime/include/tbem/primitives.h"

#include <algorithm>
#include <string_view>

namespace tbem::graph {

std::vector<std::int64_t> flattenAttributes(const Op& op, const sema::Values& values, std::size_t inputRank,
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
                                    [&name](const Attribute& attribute) { return attribute.name == name; });
    if (given == op.attributes.end()) {
      wrong = "`" + name + "` of `" + std::string(row.name) + "` is missing";
      return {};
    }
    std::vector<std::int64_t> numbers;
    for (const sema::ExprId id : given->values) {
      if (values.errorOf(id) != sema::EvalError::None || !values[id].isInt()) {
        wrong =
            "`" + name + "` of `" + std::string(row.name) + "` " +
            (values.errorOf(id) != sema::EvalError::None ? std::string(sema::describe(values.errorOf(id))) : "is not an integer");
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

std::vector<std::int64_t> flattenAttributes(const Op& op, const sema::Values& values,
                                            const std::vector<std::vector<std::int64_t>>& dims, std::string& wrong) {
  const auto rankOf = [&](TensorId tensor) { return tensor == kNoTensor ? std::size_t{0} : dims[index(tensor)].size(); };
  return flattenAttributes(op, values, op.inputs.empty() ? 0 : rankOf(op.inputs[0]), rankOf(op.outputs[0]), wrong);
}

}  // namespace tbem::graph
