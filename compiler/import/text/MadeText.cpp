#include "compiler/import/text/MadeText.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::imports {

namespace {

/// The index of a comprehension: "i", or a name that none within the members has.
std::string indexAround(const std::vector<std::string>& members) {
  const auto has = [&](const std::string& index) {
    return std::any_of(members.begin(), members.end(), [&](const std::string& member) {
      return member.find(fmt::format(" for {} in ", index)) != std::string::npos;
    });
  };
  std::string index = "i";
  for (char next = 'j'; has(index) && next <= 'z'; ++next) index = next;
  return index;
}

}  // namespace

std::string typeOf(const std::vector<std::string>& values, const TableTypes& tables) {
  if (const auto table = tables.find(values.front()); table != tables.end()) return table->second;
  const auto all = [&](const auto& is) { return std::all_of(values.begin(), values.end(), is); };
  const auto isWhole = [](const std::string& value) { return value.find_first_not_of("-0123456789") == std::string::npos; };
  if (all([](const std::string& value) { return value == "true" || value == "false"; })) return "bool";
  if (all(isWhole)) return "int";
  if (all([](const std::string& value) { return value.starts_with('"'); })) return "string";
  if (all([](const std::string& value) { return value.find_first_not_of("-.0123456789e") == std::string::npos; })) return "real";
  const bool isMixed = !all([](const std::string& value) { return value.starts_with('['); });
  if (isMixed) return "pair";
  return all([](const std::string& value) { return value.find('.') == std::string::npos; }) ? "list of int" : "list of real";
}

std::string MadeText::filledHoles(const Marked& marked) const {
  return emit::filled(marked, [&](const emit::Mark& mark) { return block.holes[mark.hole]; });
}

std::string MadeText::argumentText(const Expression& expression) const {
  std::string text;
  for (const emit::Argument& argument : expression.arguments) {
    const std::string value = filledHoles(argument.text);
    if (!argument.standard.empty() && value == filledHoles(argument.standard)) continue;
    text += (text.empty() ? "" : ", ") + (argument.keyword.empty() ? "" : argument.keyword + ": ") + value;
  }
  return text;
}

std::string MadeText::constructor(const Made& made) const {
  if (made.kind == Made::Kind::Absent) return "identity()";
  if (made.kind == Made::Kind::List) return list(made);
  if (made.kind == Made::Kind::Operator) return fmt::format("{}({})", made.operation.callee, argumentText(made.operation));
  return blockText(made, valuesOf(made));
}

std::vector<std::string> MadeText::valuesOf(const Made& made) const {
  const auto values = block.arguments.find(&made);
  return values == block.arguments.end() ? std::vector<std::string>() : values->second;
}

std::string MadeText::blockText(const Made& made, const std::vector<std::string>& values) const {
  std::string arguments;
  for (std::size_t p = 0; p < values.size(); ++p)
    arguments += (p == 0 ? "" : ", ") + blockOf(made).parameters[p].name + ": " + values[p];
  return fmt::format("{}({})", blockOf(made).name, arguments);
}

std::string MadeText::list(const Made& made) const {
  constexpr std::size_t kShort = 90;  // characters that a list on one line has at most
  std::vector<std::string> members;
  for (const Made& member : made.members) members.push_back(constructor(member));
  const std::size_t count = members.size();
  const auto agreeFrom = [&](std::size_t from) {
    return std::all_of(members.begin() + static_cast<std::ptrdiff_t>(from), members.end(),
                       [&](const std::string& member) { return member == members[from]; });
  };
  const std::string index = indexAround(members);
  if (count >= 2 && agreeFrom(0)) return fmt::format("[{} for {} in 0 .. {}]", members[0], index, count);
  if (count >= 3 && agreeFrom(1))
    return fmt::format("[if {0} = 0 then {1} else {2} for {0} in 0 .. {3}]", index, members[0], members[1], count);
  if (std::optional<std::string> one = withOneThatDiffers(made.members, 0, index)) return *one;
  if (std::optional<std::string> other = withOneThatDiffers(made.members, 1, index))
    return fmt::format("[if {} = 0 then {} else {}", index, members[0], other->substr(1));
  const std::string joined = fmt::format("[{}]", fmt::join(members, ", "));
  if (joined.size() <= kShort && joined.find('\n') == std::string::npos) return joined;
  return fmt::format("[\n    {}\n  ]", fmt::join(members, ",\n    "));
}

std::optional<std::string> MadeText::withOneThatDiffers(const std::vector<Made>& members, std::size_t from,
                                                        const std::string& index) const {
  const std::size_t count = members.size();
  if (count < from + 3 || members[from].kind != Made::Kind::Block) return std::nullopt;
  std::vector<std::string> values = valuesOf(members[from]);
  std::optional<std::size_t> differs;
  for (std::size_t k = from; k < count; ++k) {
    if (members[k].kind != Made::Kind::Block || &blockOf(members[k]) != &blockOf(members[from])) return std::nullopt;
    const std::vector<std::string> others = valuesOf(members[k]);
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (others[p] == values[p]) continue;
      if (differs && *differs != p) return std::nullopt;
      differs = p;
    }
  }
  if (!differs) return std::nullopt;
  std::vector<std::string> column(from, "0");
  for (std::size_t k = from; k < count; ++k) column.push_back(valuesOf(members[k])[*differs]);
  values[*differs] = fmt::format("[{}][{}]", fmt::join(column, ", "), index);
  return fmt::format("[{} for {} in 0 .. {}]", blockText(members[from], values), index, count);
}

}  // namespace tbem::imports
