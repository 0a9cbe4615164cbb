#include "compiler/experiment/OneRowDesign.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/experiment/AtText.h"
#include "compiler/sema/Walk.h"
#include "compiler/syntax/parse/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <vector>

namespace tbem::driver {

namespace {

/// Calls `visit` with the tree of `text`, where it is one expression. Whether it is.
template <class Visit>
bool withExpression(const std::string& text, Visit&& visit) {
  Session trial;
  const Source& source = trial.sources.add("<-e>", text);
  const std::unique_ptr<ast::File> file = syntax::parse(source, trial.sink);
  if (trial.sink.hasErrors() || file->expression == nullptr) return false;
  visit(*file->expression);
  return true;
}

/// Of the names that `asked` has, those that the expression reads.
void addNamesIn(const std::string& text, const std::set<std::string>& asked, std::set<std::string>& names) {
  withExpression(text, [&](const ast::Expr& expression) {
    sema::forEachInside(expression, [&](const ast::Expr& inside) {
      const auto* name = ast::dynCast<ast::NameRef>(&inside);
      if (name != nullptr && asked.count(name->name.text) != 0) names.insert(name->name.text);
    });
  });
}

/// "image=16,3,224,224" as a clause of a design; nothing where it has no such form. Dimensions that are names, as in
/// "image=batch,3,224,224", are added to `names`.
std::optional<std::string> inputClause(const std::string& text, std::set<std::string>& names) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return std::nullopt;
  std::string list = text.substr(equals + 1);
  if (list.find_first_not_of("0123456789,x ") == std::string::npos) {
    std::replace(list.begin(), list.end(), 'x', ',');
  } else {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      const std::string dim = list.substr(at, end - at);
      const auto isWord = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
      if (dim.empty() || !std::all_of(dim.begin(), dim.end(), isWord)) return std::nullopt;
      if (std::isdigit(static_cast<unsigned char>(dim.front())) == 0) names.insert(dim);
      at = end + 1;
    }
  }
  return fmt::format("  input {}: [{}]\n", text.substr(0, equals), list);
}

/// Levels by name, as --at gives them. A text of another form is refused where rows are chosen.
std::map<std::string, std::string> givenLevels(const std::string& at) {
  std::map<std::string, std::string> given;
  if (at.empty()) return given;
  if (const auto pairs = parseAt(at)) given.insert(pairs->begin(), pairs->end());
  return given;
}

}  // namespace

bool isExpression(const std::string& text) {
  return withExpression(text, [](const ast::Expr&) {});
}

bool isPlaceText(const std::string& text) {
  static const std::regex kPlace(R"([A-Za-z_]\w*(\[\d+\])?(\.[A-Za-z_]\w*(\[\d+\])?)*)"), kPattern(R"([\w.\[\]*]*\*[\w.\[\]*]*)");
  return std::regex_match(text, kPlace) || std::regex_match(text, kPattern);
}

tl::expected<std::string, std::string> oneRowDesign(const Request& request, const std::string& network) {
  const bool varies = !request.program.varied.empty();
  std::set<std::string> dimensions;
  std::string inputs;
  for (const std::string& input : request.program.inputs) {
    const std::optional<std::string> clause = inputClause(input, dimensions);
    if (!clause) {
      return tl::unexpected(
          fmt::format("--input {}: give a name and its dimensions: --input image={},3,224,224", input, varies ? "batch" : "16"));
    }
    inputs += *clause;
  }
  const std::map<std::string, std::string> given = givenLevels(request.rows.at);
  std::set<std::string> asked, names = dimensions;
  for (const auto& [name, level] : given) asked.insert(name);
  if (varies) asked.insert(request.program.varied);
  addNamesIn(network, asked, names);
  if (!request.program.task.empty()) addNamesIn(request.program.task, asked, names);
  std::string text = fmt::format("design row of {} {{\n", network);
  for (const std::string& name : names) {
    const auto level = given.find(name);
    if (level == given.end() && !varies) {
      return tl::unexpected(fmt::format("--input: the dimension `{0}` has no size: write a number, or give --at {0}=16", name));
    }
    text += fmt::format("  factor {}: {}\n", name, level == given.end() ? "1" : level->second);
  }
  text += inputs;
  if (!request.program.task.empty()) text += fmt::format("  task {}\n", request.program.task);
  if (!request.program.groups.empty() && request.program.task.empty())
    return tl::unexpected(fmt::format("--optimizer {}: it stands beside --task, which has that of all other weights",
                                      request.program.groups.front()));
  for (const std::string& group : request.program.groups) text += fmt::format("  optimizer {}\n", group);
  std::vector<std::string> places;
  for (const std::string& place : request.program.freeze) {
    if (!isPlaceText(place)) return tl::unexpected(fmt::format("--freeze {}: a path or a pattern, such as '*.bias'", place));
    places.push_back("\"" + place + "\"");
  }
  if (!places.empty()) text += fmt::format("  freeze {}\n", fmt::join(places, ", "));
  return text + "}\n";
}

}  // namespace tbem::driver
