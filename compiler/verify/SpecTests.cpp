#include "compiler/verify/SpecTests.h"

#include "compiler/emit/JsonNumber.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::driver {

using spec::TestCase;
using Verdict = CaseResult::Verdict;

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed:
      return "passed";
    case Verdict::Failed:
      return "failed";
    case Verdict::Crashed:
      return "crashed";
    case Verdict::TimedOut:
      return "timeout";
    case Verdict::Malformed:
      return "malformed";
  }
  return "";
}

std::size_t countOf(const std::vector<CaseResult>& results, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(results, verdict, &CaseResult::verdict));
}

std::vector<const spec::Variable*> TestedSpec::columns() const {
  std::vector<const spec::Variable*> list;
  for (const spec::Variable& one : model.variables) {
    if (!one.isOutput) list.push_back(&one);
  }
  return list;
}

namespace {

spec::Point pointOf(const spec::ProcessModel& model, const TestCase& one) {
  spec::Point point(model.unknowns.size());
  for (const auto& [symbol, value] : one.inputs) point[static_cast<std::size_t>(symbol)] = value;
  return point;
}

/// Whether the port of an input has data.
bool hasData(const spec::Variable& variable, const spec::Point& point) {
  return !variable.port || point[*variable.port] != Rational{};
}

}  // namespace

Json jsonOf(const spec::ProcessModel& model, const spec::Variable& variable, std::span<const std::optional<Rational>> point) {
  const auto one = [&](const Rational& value) -> Json {
    if (variable.isTruth) return value.num != 0;
    if (!variable.isWord) return jsonNumber(value);
    const std::string& word = model.wordOf(value);
    return word.substr(1, word.size() - 2);
  };
  if (!variable.elements.empty()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < model.countOf(variable, point); ++i) list.push_back(jsonOf(model, variable.elements[i], point));
    return list;
  }
  const std::vector<Rational> items = model.itemsOf(variable, point);
  if (variable.shape == spec::Variable::Shape::Plain) return one(items.front());
  Json list = Json::array();
  for (const Rational& item : items) list.push_back(one(item));
  return list;
}

std::string TestedSpec::cell(const TestCase& one, const spec::Variable& variable) const {
  const spec::Point point = pointOf(model, one);
  return hasData(variable, point) ? model.describe(variable, point) : std::string();
}

Json TestedSpec::inputs(const TestCase& one) const {
  Json values = Json::object();
  const spec::Point point = pointOf(model, one);
  for (const spec::Variable* variable : columns()) {
    if (hasData(*variable, point)) values[variable->name] = jsonOf(model, *variable, point);
  }
  return values;
}

}  // namespace tbem::driver
