#include "compiler/spec/Process.h"

#include "compiler/spec/Reader.h"

#include <algorithm>

namespace tbem::spec {

namespace {
std::optional<Rational> at(std::span<const std::optional<Rational>> point, SymbolId symbol) {
  const auto s = static_cast<std::size_t>(symbol);
  return s < point.size() ? point[s] : std::nullopt;
}
}  // namespace

bool ProcessModel::mentionsOutputs(ExprId expr) const {
  const std::vector<SymbolId> symbols = pool.symbolsOf(expr);
  return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId s) { return unknowns[static_cast<std::size_t>(s)].isOutput; });
}

bool ProcessModel::isPresence(std::size_t s) const {
  return std::any_of(unknowns.begin(), unknowns.end(), [&](const Unknown& one) { return one.port == s; });
}

std::vector<Rational> ProcessModel::itemsOf(const Variable& variable, std::span<const std::optional<Rational>> point) const {
  std::vector<Rational> items;
  if (!variable.candidates.empty()) {
    for (std::size_t i = 0; i < variable.symbols.size(); ++i) {
      if (at(point, variable.symbols[i]).value_or(Rational{}).num != 0) items.push_back(variable.candidates[i]);
    }
    return items;
  }
  std::size_t count = variable.symbols.size();
  if (variable.size) {
    // Where nothing is said of the length, what is said of elements tells how many there are.
    while (count > 0 && !at(point, variable.symbols[count - 1])) --count;
    if (const auto size = at(point, *variable.size)) count = static_cast<std::size_t>(std::max<std::int64_t>(0, size->num));
  }
  for (std::size_t i = 0; i < std::min(count, variable.symbols.size()); ++i) {
    const Domain& domain = domains[static_cast<std::size_t>(variable.symbols[i])];
    items.push_back(at(point, variable.symbols[i]).value_or(domain.simplest()));
  }
  return items;
}

void ProcessModel::normalize(std::vector<std::optional<Rational>>& point) const {
  for (const Variable& one : variables) {
    if (!one.size) continue;
    const std::size_t count = itemsOf(one, point).size();
    for (std::size_t i = count; i < one.symbols.size(); ++i) {
      const auto s = static_cast<std::size_t>(one.symbols[i]);
      point[s] = domains[s].simplest();
    }
  }
}

const Variable* ProcessModel::cutIn(std::span<const ExprId> exprs) const {
  for (const Variable& one : variables) {
    if (!one.isCut) continue;
    for (const ExprId expr : exprs) {
      for (const SymbolId symbol : pool.symbolsOf(expr)) {
        if (symbol == one.size || std::find(one.symbols.begin(), one.symbols.end(), symbol) != one.symbols.end()) return &one;
      }
    }
  }
  return nullptr;
}

std::string ProcessModel::describe(const Variable& variable, std::span<const std::optional<Rational>> point) const {
  std::string text;
  for (const Rational& item : itemsOf(variable, point)) {
    if (!text.empty()) text += ", ";
    text += variable.isTruth ? item.num != 0 ? "true" : "false" : variable.isWord ? wordOf(item) : item.str();
  }
  if (variable.shape == Variable::Shape::Sequence) return "[" + text + "]";
  return variable.shape == Variable::Shape::Set ? "{" + text + "}" : text;
}

std::string ProcessModel::describe(const std::vector<std::pair<SymbolId, Rational>>& values) const {
  std::vector<std::optional<Rational>> point(unknowns.size());
  for (const auto& [symbol, value] : values) point[static_cast<std::size_t>(symbol)] = value;
  std::string text;
  std::vector<bool> told(unknowns.size(), false);
  const auto add = [&](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  };
  for (const auto& [symbol, value] : values) {
    const auto s = static_cast<std::size_t>(symbol);
    if (told[s]) continue;
    const auto holds = [&](const Variable& one) {
      return one.size == symbol || std::find(one.symbols.begin(), one.symbols.end(), symbol) != one.symbols.end();
    };
    const auto variable = std::find_if(variables.begin(), variables.end(), holds);
    if (variable == variables.end()) {  // the presence of a port
      add(unknowns[s].name, value.num != 0 ? "true" : "false");
      continue;
    }
    if (variable->size) told[static_cast<std::size_t>(*variable->size)] = true;
    for (const SymbolId one : variable->symbols) told[static_cast<std::size_t>(one)] = true;
    add(variable->name, describe(*variable, point));
  }
  return text;
}

std::optional<ProcessModel> readProcess(Session& session, const sema::Program& program, const sema::Module& module,
                                        const ast::Process& process) {
  std::optional<ProcessModel> model(std::in_place);
  model->decl = model->process = &process;
  if (!Reader(session, program, module, *model).read()) return std::nullopt;
  return model;
}

}  // namespace tbem::spec
