#include "compiler/spec/Process.h"

#include "compiler/spec/Reader.h"

#include <algorithm>

namespace tbem::spec {

bool ProcessModel::mentionsOutputs(ExprId expr) const {
  const std::vector<SymbolId> symbols = pool.symbolsOf(expr);
  return std::any_of(symbols.begin(), symbols.end(), [&](SymbolId s) { return unknowns[static_cast<std::size_t>(s)].isOutput; });
}

bool ProcessModel::isPresence(std::size_t s) const {
  return std::any_of(unknowns.begin(), unknowns.end(), [&](const Unknown& one) { return one.port == s; });
}

std::string ProcessModel::describe(SymbolId symbol, const Rational& value) const {
  const Unknown& one = unknowns[static_cast<std::size_t>(symbol)];
  return one.name + " = " + (one.isTruth ? value.num != 0 ? "true" : "false" : value.str());
}

std::string ProcessModel::describe(const std::vector<std::pair<SymbolId, Rational>>& values) const {
  std::string text;
  for (const auto& [symbol, value] : values) text += (text.empty() ? "" : ", ") + describe(symbol, value);
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
