#include "compiler/import/Exported.h"

#include "compiler/diagnostics/tables/Import.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace tbem::imports {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;  // of a tensor

ExportFailure damaged(const std::string& why) {
  return {diag::model_file_damaged, "the exported graph cannot be read: " + why, ""};
}

/// What tools/runners/export.py calls a failure, as a diagnostic.
Diag kindOfFailure(const std::string& word) {
  static const std::map<std::string_view, Diag> kKinds = {
      {"torch", diag::python_without_torch}, {"import", diag::model_not_found}, {"name", diag::model_not_found},
      {"arguments", diag::model_not_made},   {"build", diag::model_not_made},   {"inputs", diag::model_inputs},
      {"export", diag::model_not_exported}};
  const auto at = kKinds.find(word);
  if (at == kKinds.end()) throw damaged(fmt::format("no failure is called `{}`", word));
  return at->second;
}

std::string textOr(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? std::string() : at->get<std::string>();
}

double realOf(const Json& value) {
  if (value.is_object()) return std::strtod(value.at("number").get<std::string>().c_str(), nullptr);  // inf, -inf, nan
  return value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
}

/// Thrown where a size is known only when the model runs.
struct DependsOnValues {};

/// Of a tensor's dimension, or an argument that depends on one.
Size sizeOf(const Json& value) {
  if (value.is_number_integer()) return {value.get<std::int64_t>(), ""};
  if (value.at("size").is_null()) throw DependsOnValues();
  return {value.at("size").get<std::int64_t>(), value.at("of").get<std::string>()};
}

Facts factsOf(const Json& object) {
  Facts facts;
  for (const Json& size : object.at("shape")) {
    facts.shape.push_back(sizeOf(size));
    if (facts.shape.back().number < 0) throw damaged("a dimension is negative");
  }
  facts.type = object.at("type").get<std::string>();
  // So that sums and products of sizes are numbers.
  __int128 elements = 1;
  for (const Size& size : facts.shape) {
    elements *= std::max(size.number, std::int64_t{1});
    if (elements > kMostElements)
      throw ExportFailure{diag::model_too_large, "a tensor of the model has more than 2^48 elements", ""};
  }
  return facts;
}

/// Throws Json::exception where the form is another one, and ExportFailure where a name is unknown.
class Reader {
public:
  Exported read(const Json& document) {
    exported.torch = document.at("torch").get<std::string>();
    exported.python = document.at("python").get<std::string>();
    exported.kind = document.at("kind").get<std::string>();
    exported.state = document.at("state").get<std::vector<std::string>>();
    for (const Json& input : document.at("inputs")) {
      exported.inputs.push_back(static_cast<ValueId>(exported.values.size()));
      add(Value::Kind::Input, input).path = textOr(input, "name");
    }
    for (const Json& weight : document.at("weights")) {
      Value& value = add(Value::Kind::Weight, weight);
      value.path = weight.at("name").get<std::string>();
      value.also = weight.at("also").get<std::vector<std::string>>();
      value.isLearned = weight.at("learned").get<bool>();
      value.isFrozen = weight.value("frozen", false);  // older recordings say nothing of it
      if (const auto fill = weight.find("fill"); fill != weight.end() && fill->is_number()) value.fill = fill->get<double>();
    }
    for (const Json& constant : document.at("constants")) readConstant(constant);
    for (const Json& node : document.at("nodes")) readNode(node);
    for (const Json& output : document.at("outputs"))
      exported.outputs.push_back({known(output.at("node")), textOr(output, "name")});
    if (const auto rates = document.find("rates"); rates != document.end()) {  // older recordings have none
      for (const Json& rate : *rates)
        exported.rates.push_back({rate.at("kind").get<std::string>(), rate.at("name").get<std::string>(),
                                  rate.at("rate").get<double>(), textOr(rate, "at"), rate.at("count").get<std::size_t>()});
    }
    if (exported.outputs.empty()) throw ExportFailure{diag::model_not_exported, "the model gives no tensor", ""};
    return std::move(exported);
  }

private:
  Value& add(Value::Kind kind, const Json& object) {
    Value value;
    value.kind = kind;
    value.name = object.at("node").get<std::string>();
    value.facts = factsOf(object);
    return add(std::move(value));
  }
  Value& add(Value value) {
    if (!byName.try_emplace(value.name, static_cast<ValueId>(exported.values.size())).second)
      throw damaged("two values are called " + value.name);
    return exported.values.emplace_back(std::move(value));
  }
  ValueId known(const Json& name) const {
    const auto at = byName.find(name.get<std::string>());
    if (at == byName.end()) throw damaged("nothing before it is called " + name.get<std::string>());
    return at->second;
  }

  void readConstant(const Json& object) {
    Value& value = add(Value::Kind::Constant, object);
    value.path = textOr(object, "name");
    if (const auto pattern = object.find("pattern"); pattern != object.end()) {
      if (pattern->contains("fill")) {
        const Json& fill = pattern->at("fill");
        value.pattern = {Pattern::Kind::Fill, realOf(fill), 0, 0};
      } else if (pattern->contains("tril")) {
        value.pattern = {Pattern::Kind::Lower, 0, 0, pattern->at("tril").get<std::int64_t>()};
      } else if (pattern->contains("triu")) {
        value.pattern = {Pattern::Kind::Upper, 0, 0, pattern->at("triu").get<std::int64_t>()};
      } else {
        value.pattern = {Pattern::Kind::Line, pattern->at("start").get<double>(), pattern->at("step").get<double>(),
                         pattern->at("axis").get<std::int64_t>()};
      }
    } else if (const auto elements = object.find("values"); elements != object.end()) {
      for (const Json& element : *elements) value.elements.push_back(realOf(element));
    }
  }

  void readNode(const Json& object) {
    try {
      add(nodeOf(object));
    } catch (const DependsOnValues&) {
      throw ExportFailure{diag::model_not_exported,
                          fmt::format("`{}` has a size or a number that depends on values, or is a fraction of sizes",
                                      object.at("op").get<std::string>()),
                          textOr(object, "at")};
    }
  }

  Value nodeOf(const Json& object) const {
    Value node;
    node.name = object.at("name").get<std::string>();
    node.op = object.at("op").get<std::string>();
    for (const Json& argument : object.at("args")) node.arguments.push_back(argumentOf(argument));
    for (const auto& [key, argument] : object.at("named").items()) node.named.emplace(key, argumentOf(argument));
    for (const Json& use : object.at("modules"))
      node.modules.push_back({use.at(0).get<std::string>(), use.at(1).get<std::string>(), use.at(2).get<std::string>()});
    node.place = textOr(object, "at");
    if (object.contains("shape")) node.facts = factsOf(object);
    if (const auto parts = object.find("parts"); parts != object.end()) {
      for (const Json& part : *parts) node.parts.push_back(part.is_null() ? std::nullopt : std::optional(factsOf(part)));
    }
    return node;
  }

  Argument argumentOf(const Json& value) const {
    if (value.is_boolean()) return flagArgument(value.get<bool>());
    if (value.is_number_integer()) return integerArgument(value.get<std::int64_t>());
    if (value.is_number()) return realArgument(value.get<double>());
    if (value.is_string()) return textArgument(value.get<std::string>());
    Argument argument;
    if (value.is_array()) {
      argument.kind = Argument::Kind::List;
      for (const Json& item : value) argument.items.push_back(argumentOf(item));
    } else if (value.is_object()) {
      readMarked(value, argument);
    }
    return argument;
  }

  void readMarked(const Json& value, Argument& argument) const {
    using Kind = Argument::Kind;
    if (const auto node = value.find("node"); node != value.end()) {
      argument.kind = Kind::Value;
      argument.value = known(*node);
    } else if (value.contains("size")) {
      argument.kind = Kind::Size;
      argument.size = sizeOf(value);
    } else if (value.contains("number")) {  // inf, -inf, nan
      argument.kind = Kind::Real;
      argument.real = std::strtod(value.at("number").get<std::string>().c_str(), nullptr);
    } else if (value.contains("type")) {
      argument.kind = Kind::Type;
      argument.text = value.at("type").get<std::string>();
    } else {
      argument.kind = Kind::Other;
      argument.text = textOr(value, "other");
    }
  }

  Exported exported;
  std::unordered_map<std::string, ValueId> byName;
};

}  // namespace

tl::expected<Exported, ExportFailure> readExport(std::string_view text) {
  try {
    const Json document = Json::parse(text);
    if (const auto error = document.find("error"); error != document.end())
      return tl::unexpected(ExportFailure{kindOfFailure(error->at("kind").get<std::string>()),
                                          error->at("message").get<std::string>(), textOr(*error, "at")});
    return Reader().read(document);
  } catch (const Json::exception& wrong) {
    return tl::unexpected(damaged(wrong.what()));
  } catch (const DependsOnValues&) {
    return tl::unexpected(damaged("an input, a weight or a constant has no size"));
  } catch (ExportFailure& wrong) {
    return tl::unexpected(std::move(wrong));
  }
}

Argument valueArgument(ValueId value) {
  Argument argument;
  argument.kind = Argument::Kind::Value;
  argument.value = value;
  return argument;
}
Argument integerArgument(std::int64_t number) {
  Argument argument;
  argument.kind = Argument::Kind::Integer;
  argument.integer = number;
  argument.real = static_cast<double>(number);
  argument.size.number = number;
  return argument;
}
Argument realArgument(double number) {
  Argument argument;
  argument.kind = Argument::Kind::Real;
  argument.real = number;
  return argument;
}
Argument flagArgument(bool flag) {
  Argument argument = integerArgument(flag ? 1 : 0);
  argument.kind = Argument::Kind::Bool;
  return argument;
}
Argument textArgument(std::string text) {
  Argument argument;
  argument.kind = Argument::Kind::Text;
  argument.text = std::move(text);
  return argument;
}
Argument listArgument(const std::vector<std::int64_t>& numbers) {
  Argument argument;
  argument.kind = Argument::Kind::List;
  for (const std::int64_t number : numbers) argument.items.push_back(integerArgument(number));
  return argument;
}

}  // namespace tbem::imports
