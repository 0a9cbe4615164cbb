#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace tbem::imports {

namespace {

/// Of a size that depends on the inputs' sizes there is none: the one of the export would be wrong for others.
std::int64_t wholeNumber(const Argument& argument) {
  const bool isSize = argument.kind == Argument::Kind::Size;
  if (argument.kind == Argument::Kind::Real || (isSize && !argument.size.symbolic.empty())) throw UnlikeNode();
  return isSize ? argument.size.number : argument.integer;
}

}  // namespace

const Argument& NodeReader::at(std::size_t position, const char* name) const {
  static const Argument kNone;
  if (position < node.arguments.size()) return node.arguments[position];
  const auto named = node.named.find(name);
  return named == node.named.end() ? kNone : named->second;
}

std::int64_t NodeReader::integer(std::size_t position, const char* name, std::int64_t otherwise) const {
  const Argument& argument = at(position, name);
  return argument.isNone() ? otherwise : wholeNumber(argument);
}

double NodeReader::real(std::size_t position, const char* name, double otherwise) const {
  const Argument& argument = at(position, name);
  if (argument.isNone()) return otherwise;
  if (!argument.isNumber()) throw UnlikeNode();
  return argument.real;
}

bool NodeReader::flag(std::size_t position, const char* name, bool otherwise) const {
  return integer(position, name, otherwise ? 1 : 0) != 0;
}

std::vector<std::int64_t> NodeReader::integers(std::size_t position, const char* name, std::size_t count) const {
  const Argument& argument = at(position, name);
  if (argument.isNone()) return {};
  if (argument.kind != Argument::Kind::List) return std::vector<std::int64_t>(count, wholeNumber(argument));
  std::vector<std::int64_t> numbers;
  for (const Argument& item : argument.items) numbers.push_back(wholeNumber(item));
  if (numbers.size() == 1 && count > 1) numbers.resize(count, numbers.front());
  if (!numbers.empty() && count > 1 && numbers.size() != count) throw UnlikeNode();
  return numbers;
}

ValueId NodeReader::value(std::size_t position) const {
  if (!isTensor(position)) throw UnlikeNode();
  return at(position).value;
}

const Size& NodeReader::dimension(std::size_t position, std::size_t axis) const {
  const Facts& of = facts(position);
  if (axis >= of.rank()) throw UnlikeNode();
  return of.shape[axis];
}

std::size_t NodeReader::axis(std::size_t position, const char* name, std::int64_t otherwise, std::size_t rank) const {
  const std::int64_t axis = integer(position, name, otherwise);
  const auto counted = static_cast<std::int64_t>(rank);
  if (axis < -counted || axis >= counted) throw UnlikeNode();
  return static_cast<std::size_t>(axis < 0 ? axis + counted : axis);
}

Marked NodeReader::asReal(std::size_t position, Binding least) const {
  if (isReal(facts(position))) return operand(position, least);
  if (facts(position).type == "bool") return fmt::format("as_real(cast({}, to: i64))", operand(position));
  return fmt::format("as_real({})", operand(position));
}

Marked NodeReader::promoted(std::size_t position, Binding least) const {
  if (isReal(result())) return asReal(position, least);
  const bool isWidened = isIntegral(result()) && facts(position).type == "bool";
  return isWidened ? fmt::format("cast({}, to: i64)", operand(position)) : operand(position, least);
}

Marked NodeReader::even(std::string name, const std::vector<std::int64_t>& numbers) const {
  if (numbers.empty()) throw UnlikeNode();
  const bool agree = std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return n == numbers.front(); });
  return agree ? hole(std::move(name), numbers.front()) : hole(std::move(name), listText(numbers));
}

Marked NodeReader::shape(const std::vector<Size>& sizes) const {
  std::string text;
  for (const Size& one : sizes) text += (text.empty() ? "" : ", ") + size(one, "size");
  return "[" + text + "]";
}

std::string listText(const std::vector<std::int64_t>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::optional<std::string> numberText(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  std::string text = fmt::format("{}", number);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  const int power = std::stoi(text.substr(exponent + 1));
  if (power < -15 || power > 15) return text;
  const std::size_t digits = exponent - (text[0] == '-' ? 1 : 0);  // with the point among them
  return fmt::format("{:.{}f}", number, std::max(0, static_cast<int>(digits > 1 ? digits - 2 : 0) - power));
}

std::optional<std::string> lowText(double value) {
  return std::isinf(value) ? std::optional<std::string>(value < 0 ? "-1e30" : "1e30") : numberText(value);
}

std::string typeText(std::string_view torch) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {{{"float32", "f32"},
                                                                                     {"float64", "f64"},
                                                                                     {"float16", "f16"},
                                                                                     {"bfloat16", "bf16"},
                                                                                     {"int64", "i64"},
                                                                                     {"int32", "i64"},
                                                                                     {"int16", "i64"},
                                                                                     {"int8", "i64"},
                                                                                     {"uint8", "i64"},
                                                                                     {"bool", "bool"}}};
  for (const auto& [theirs, ours] : kTypes) {
    if (theirs == torch) return std::string(ours);
  }
  return "";
}

bool isReal(const Facts& facts) { return facts.type.starts_with("float") || facts.type == "bfloat16"; }

bool isIntegral(const Facts& facts) { return typeText(facts.type) == "i64"; }

Marked filledWith(const Marked& number, std::string_view type) {
  const std::string one = fmt::format("fill(shape: [1], value: {})", number);
  const std::string ours = typeText(type);
  return ours == "i64" || ours == "bool" ? fmt::format("cast({}, to: {})", one, ours) : one;
}

Expression call(std::string callee, std::vector<Marked> tensors, std::vector<emit::Argument> arguments) {
  Expression made;
  made.callee = std::move(callee);
  made.tensors = std::move(tensors);
  made.arguments = std::move(arguments);
  return made;
}

Expression infix(const Marked& left, const char* sign, const Marked& right, Binding binding) {
  Expression made;
  made.text = left + " " + sign + " " + right;
  made.binding = binding;
  return made;
}

std::string wordOf(const Value& node) {
  std::string word = node.op;
  for (const std::string_view package : {"aten.", "tbem."}) {
    if (word.starts_with(package)) word.erase(0, package.size());
  }
  word.resize(std::min(word.find('.'), word.size()));
  if (word.ends_with('_') && !word.starts_with("_")) word.pop_back();
  return word;
}

const std::string& calledInModel(const Value& node) { return node.origin.empty() ? node.op : node.origin; }

std::optional<ValueId> givenOn(const Exported& exported, const Value& node) {
  static const std::set<std::string_view> kSame = {"contiguous", "clone",         "alias",        "lift_fresh_copy", "identity",
                                                   "lift_fresh", "requires_grad", "resolve_conj", "resolve_neg"};
  static const std::set<std::string_view> kTyped = {
      "to",     "type_as",   "_to_copy", "float",   "double",  "long",    "int",   "dropout", "feature_dropout", "alpha_dropout",
      "expand", "expand_as", "view",     "reshape", "flatten", "squeeze", "slice", "pad",     "constant_pad_nd"};
  if (node.arguments.empty() || node.arguments.front().kind != Argument::Kind::Value) return std::nullopt;
  const ValueId operand = node.arguments.front().value;
  const std::string word = wordOf(node);
  if (kSame.contains(word)) return operand;
  if (!kTyped.contains(word)) return std::nullopt;
  // Elements that move leave the shape as it is.
  const auto moves = [](const Argument& amount) { return amount.kind == Argument::Kind::Size || amount.integer != 0; };
  const bool isPad = word == "pad" || word == "constant_pad_nd";
  if (isPad && (node.arguments.size() < 2 || std::ranges::any_of(node.arguments[1].items, moves))) return std::nullopt;
  if (word.ends_with("dropout")) {
    const bool drops = node.arguments.size() > 1 && node.arguments[1].real > 0;
    return drops ? std::nullopt : std::optional(operand);
  }
  const Facts& before = exported[operand].facts;
  const bool isSame =
      (before.type == node.facts.type || (isIntegral(before) && isIntegral(node.facts))) && before.shape == node.facts.shape;
  return isSame ? std::optional(operand) : std::nullopt;
}

std::optional<Expression> textOf(const NodeReader& reader) {
  try {
    return reader.node.kind == Value::Kind::Node       ? expressionOf(reader)
           : reader.node.kind == Value::Kind::Constant ? constantOf(reader)
                                                       : std::nullopt;
  } catch (const UnlikeNode&) {
    return std::nullopt;
  }
}

std::optional<Expression> expressionOf(const NodeReader& node) {
  const std::string word = wordOf(node.node);
  for (const auto write : {layerOf, productOf, elementsOf, movedOf, indexedOf, reducedOf}) {
    if (std::optional<Expression> expression = write(node, word)) return expression;
  }
  return std::nullopt;
}

std::set<std::string> calledWords(const Exported& exported) {
  std::set<std::string> words = {"identity"};  // of members of lists that nothing applies
  std::vector<emit::Hole> holes;
  emit::Scribe scribe(holes);
  const SizeText anySize = [](const Size& /*size*/, const std::string& /*name*/) { return Marked("1"); };
  const auto addWords = [&](const Marked& text) {
    std::string word;
    for (const char c : text + " ") {
      const bool isOfWord = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      if (isOfWord) word += c;
      if (!isOfWord && !word.empty()) words.insert(std::exchange(word, ""));
    }
  };
  for (const Value& value : exported.values) {
    const std::optional<Expression> expression = textOf(NodeReader(exported, value, scribe, anySize));
    if (!expression) continue;
    addWords(expression->callee);
    addWords(expression->text);
    for (const Marked& tensor : expression->tensors) addWords(tensor);
  }
  return words;
}

namespace {

/// Of each axis what it adds, in a tensor that broadcasts to the grid.
std::string gridText(const std::vector<GridAxis>& grid) {
  std::string text;
  for (std::size_t at = 0; at < grid.size(); ++at) {
    const bool isFirst = at == 0, isLess = grid[at].step < 0;
    const std::int64_t step = std::abs(grid[at].step);
    std::string added = fmt::format("arange({})", grid[at].length);
    if (isFirst && isLess)
      added += fmt::format(" * (-{})", step);
    else if (step != 1)
      added += fmt::format(" * {}", step);
    if (at + 1 < grid.size()) {
      std::vector<std::int64_t> shape(grid.size() - at, 1);
      shape.front() = grid[at].length;
      added = fmt::format("({} |> reshape(shape: {}))", added, listText(shape));
    }
    text += isFirst ? added : (isLess ? " - " : " + ") + added;
  }
  return text;
}

}  // namespace

std::optional<Expression> constantOf(const NodeReader& reader) {
  const Value& constant = reader.node;
  const std::string type = typeText(constant.facts.type);
  if (type.empty()) return std::nullopt;
  const bool isReal = type.starts_with('f') || type == "bf16";
  const auto typed = [&](const Marked& text) { return isReal ? text : fmt::format("cast({}, to: {})", text, type); };
  const auto shaped = [&](const Marked& text, const std::vector<Size>& before) {
    return before == constant.facts.shape ? text : text + " |> reshape(shape: " + reader.shape(constant.facts.shape) + ")";
  };
  std::int64_t count = 1;
  for (const Size& size : constant.facts.shape) count *= size.number;
  Expression made;
  made.binding = kPipe;
  const Pattern& pattern = constant.pattern;
  if (pattern.kind == Pattern::Kind::Fill) {
    const std::optional<std::string> value = isReal ? lowText(pattern.start) : numberText(pattern.start);
    if (!value) return std::nullopt;
    made.text = typed(fmt::format("fill(shape: {}, value: {})", reader.shape(constant.facts.shape), *value));
  } else if (pattern.kind == Pattern::Kind::Line) {
    if (pattern.axis < 0 || static_cast<std::size_t>(pattern.axis) >= constant.facts.rank()) return std::nullopt;
    const Size length = constant.facts.shape[static_cast<std::size_t>(pattern.axis)];
    const std::optional<std::string> start = numberText(pattern.start), step = numberText(pattern.step);
    if (!start || !step || type == "bool") return std::nullopt;
    std::string line = fmt::format("arange({})", reader.size(length, "length"));
    if (type != "i64") line = fmt::format("as_real({})", line);
    if (pattern.step != 1) line += " * " + reader.hole("step", pattern.step < 0 ? "(" + *step + ")" : *step);
    if (pattern.start != 0) line += " + " + reader.hole("start", pattern.start < 0 ? "(" + *start + ")" : *start);
    const bool isBare = pattern.step == 1 && pattern.start == 0;
    const std::vector<Size>& shape = constant.facts.shape;
    std::vector<Size> along(shape.size() - static_cast<std::size_t>(pattern.axis), Size{1, ""});
    along.front() = length;
    if (!isBare && (shape.size() > 1 || length.number != count)) line = "(" + line + ")";
    made.text = length.number == count               ? shaped(line, {length})
                : along == std::vector<Size>{length} ? fmt::format("{} |> broadcast_to(shape: {})", line, reader.shape(shape))
                                                     : fmt::format("{} |> reshape(shape: {}) |> broadcast_to(shape: {})", line,
                                                                   reader.shape(along), reader.shape(shape));
  } else if (pattern.kind == Pattern::Kind::Lower || pattern.kind == Pattern::Kind::Upper) {
    const std::size_t rank = constant.facts.rank();
    if (rank < 2) return std::nullopt;
    const Size rows = constant.facts.shape[rank - 2], columns = constant.facts.shape[rank - 1];
    if (count != rows.number * columns.number) return std::nullopt;
    // Row i and column j: j <= i + diagonal, or i + diagonal <= j.
    const std::string row =
        fmt::format("(arange({0}) |> reshape(shape: [{0}, 1])) + {1}", reader.size(rows, "rows"), pattern.axis);
    const std::string column = fmt::format("arange({})", reader.size(columns, "columns"));
    const bool isLower = pattern.kind == Pattern::Kind::Lower;
    made.text = shaped(fmt::format("less_equal({}, {})", isLower ? column : row, isLower ? row : column), {rows, columns});
  } else if (pattern.kind == Pattern::Kind::Grid) {
    const std::optional<std::string> start = numberText(pattern.start);
    if (!start) return std::nullopt;
    const std::string grid = gridText(pattern.grid) + (pattern.start == 0 ? "" : " + " + *start);
    std::vector<Size> axes;
    for (const GridAxis& axis : pattern.grid) axes.push_back({axis.length, ""});
    const Marked whole = type == "i64" ? grid : fmt::format("cast({}, to: {})", grid, type);
    made.text = shaped(type == "i64" && axes != constant.facts.shape ? "(" + whole + ")" : whole, axes);
  } else if (!constant.elements.empty()) {
    std::vector<std::string> elements;
    for (const double element : constant.elements) {
      const std::optional<std::string> text = isReal ? lowText(element) : numberText(element);
      if (!text) return std::nullopt;
      elements.push_back(*text);
    }
    made.text = shaped(typed(fmt::format("constant({})", reader.hole(constant.path.empty() ? "values" : constant.path,
                                                                     fmt::format("[{}]", fmt::join(elements, ", "))))),
                       {{count, ""}});
  } else {
    return std::nullopt;
  }
  return made;
}

}  // namespace tbem::imports
