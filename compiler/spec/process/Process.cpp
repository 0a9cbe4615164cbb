#include "compiler/spec/process/Process.h"

#include "compiler/spec/process/Reader.h"

#include <algorithm>

namespace tbem::spec {

namespace {
std::optional<Rational> at(std::span<const std::optional<Rational>> point, SymbolId symbol) {
  const auto s = static_cast<std::size_t>(symbol);
  return s < point.size() ? point[s] : std::nullopt;
}

bool hasValue(const Variable& variable, std::span<const std::optional<Rational>> point) {
  const std::vector<SymbolId> symbols = variable.unknowns();
  return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId symbol) { return at(point, symbol).has_value(); });
}

/// Those of the variable and its elements that may have more elements than are looked at.
void collectCut(const Variable& variable, std::vector<const Variable*>& found) {
  if (variable.isCut) found.push_back(&variable);
  for (const Variable& element : variable.elements) collectCut(element, found);
}
}  // namespace

std::vector<SymbolId> Variable::unknowns() const {
  std::vector<SymbolId> all = symbols;
  if (size) all.push_back(*size);
  for (const Variable& element : elements) {
    const std::vector<SymbolId> inner = element.unknowns();
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

bool Variable::has(SymbolId symbol) const {
  return size == symbol || std::find(symbols.begin(), symbols.end(), symbol) != symbols.end() ||
         std::any_of(elements.begin(), elements.end(), [&](const Variable& element) { return element.has(symbol); });
}

bool ProcessModel::mentionsOutputs(ExprId expr) const {
  const std::vector<SymbolId> symbols = pool.symbolsOf(expr);
  return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId s) { return unknowns[static_cast<std::size_t>(s)].isOutput; });
}

bool ProcessModel::isPresence(std::size_t s) const {
  return std::any_of(unknowns.begin(), unknowns.end(), [&](const Unknown& one) { return one.port == s; });
}

std::size_t ProcessModel::countOf(const Variable& variable, std::span<const std::optional<Rational>> point) const {
  std::size_t count = variable.looked();
  if (const auto size = at(point, *variable.size))
    return std::min(count, static_cast<std::size_t>(std::max<std::int64_t>(0, size->num)));
  // Where nothing is said of the length, what is said of elements tells how many there are.
  const auto isKnown = [&](std::size_t i) {
    return variable.elements.empty() ? at(point, variable.symbols[i]).has_value() : hasValue(variable.elements[i], point);
  };
  while (count > 0 && !isKnown(count - 1)) --count;
  return count;
}

std::vector<Rational> ProcessModel::itemsOf(const Variable& variable, std::span<const std::optional<Rational>> point) const {
  std::vector<Rational> items;
  if (!variable.elements.empty()) return items;
  if (!variable.candidates.empty()) {
    for (std::size_t i = 0; i < variable.symbols.size(); ++i) {
      if (at(point, variable.symbols[i]).value_or(Rational{}).num != 0) items.push_back(variable.candidates[i]);
    }
    return items;
  }
  const std::size_t count = variable.size ? countOf(variable, point) : variable.symbols.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Domain& domain = domains[static_cast<std::size_t>(variable.symbols[i])];
    items.push_back(at(point, variable.symbols[i]).value_or(domain.simplest()));
  }
  return items;
}

void ProcessModel::normalize(std::vector<std::optional<Rational>>& point) const {
  std::vector<const Variable*> open;
  for (const Variable& one : variables) open.push_back(&one);
  while (!open.empty()) {
    const Variable& one = *open.back();
    open.pop_back();
    if (!one.size) continue;
    const auto clear = [&](SymbolId symbol) {
      const auto s = static_cast<std::size_t>(symbol);
      point[s] = domains[s].simplest();
    };
    for (std::size_t i = countOf(one, point); i < one.looked(); ++i) {
      if (one.elements.empty()) {
        clear(one.symbols[i]);
      } else {
        for (const SymbolId symbol : one.elements[i].unknowns()) clear(symbol);
      }
    }
    for (const Variable& element : one.elements) open.push_back(&element);
  }
}

const Variable* ProcessModel::cutIn(std::span<const ExprId> exprs) const {
  std::vector<const Variable*> cut;
  for (const Variable& one : variables) collectCut(one, cut);
  for (const Variable* one : cut) {
    for (const ExprId expr : exprs) {
      const std::vector<SymbolId> symbols = pool.symbolsOf(expr);
      if (std::any_of(symbols.begin(), symbols.end(), [&](SymbolId symbol) { return one->has(symbol); })) return one;
    }
  }
  return nullptr;
}

std::string ProcessModel::describe(const Variable& variable, std::span<const std::optional<Rational>> point) const {
  std::string text;
  for (std::size_t i = 0; !variable.elements.empty() && i < countOf(variable, point); ++i)
    text += (i == 0 ? "" : ", ") + describe(variable.elements[i], point);
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
    const auto variable =
        std::find_if(variables.begin(), variables.end(), [&, &wanted = symbol](const Variable& one) { return one.has(wanted); });
    if (variable == variables.end()) {  // the presence of a port
      add(unknowns[s].name, value.num != 0 ? "true" : "false");
      continue;
    }
    for (const SymbolId one : variable->unknowns()) told[static_cast<std::size_t>(one)] = true;
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
