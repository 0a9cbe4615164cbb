// Factors and inputs of a design: their levels, the parameters that they bind, which stand under a level of another.
// Internal to this folder.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// Writes them into `spec`. What is wrong is reported.
class FactorReader {
public:
  FactorReader(ClauseReader& evaluator, const ast::Design& design, DesignSpec& spec) : e(evaluator), design(design), spec(spec) {}
  void read();

  /// That rows may build: `of`, or the levels of the factor that it names.
  std::vector<const ast::Callable*> networks;

private:
  struct Declared {
    const ast::Parameter* parameter = nullptr;
    const sema::Module* module = nullptr;  ///< where its domain means what it says
  };
  bool mentionsFactor(const ast::Expr& expr) const;
  const ast::Expr* withoutFactors(const ast::Expr* source) const;
  void readNetworks();
  Declared parameterOf(const std::string& name) const;
  void addLevel(FactorSpec& factor, sema::Value found, const ast::Expr* expr, const sema::Module* module, SrcRange range);
  void readFactor(const ast::Factor& factor);
  template <class Nested>
  void readParent(const Nested& nested, std::optional<std::uint32_t>& place, std::vector<std::uint32_t>& parentLevels);
  void readInput(const ast::Input& input);
  bool isUnderItself(std::uint32_t factor) const;
  void nest();

  ClauseReader& e;
  const ast::Design& design;
  DesignSpec& spec;
  std::vector<const sema::Module*> networkModules;  ///< where each stands
};

}  // namespace tbem::graph
