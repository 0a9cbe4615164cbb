#include "compiler/run/PlainRows.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/estimate/Formulas.h"
#include "compiler/jit/rows/RowKernel.h"
#include "compiler/support/Bug.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace tbem::driver {

namespace {

/// Rows whose values are held at a time.
constexpr std::size_t kTogether = 8192;

/// A structure and its rows.
struct Group {
  const graph::Structure* structure = nullptr;
  estimate::StaticOrder order;
  std::size_t rows = 0;                           ///< that it serves
  std::optional<estimate::Formulas> formulas;     ///< with `kernel`
  std::optional<jit::RowKernel> kernel;           ///< nothing: row by row
  std::vector<std::uint32_t> apart;               ///< factors on which formulas->conditions depend
  std::map<LevelIndices, bool> apartHolds;        ///< by the levels of `apart`
  std::vector<std::vector<double>> levelNumbers;  ///< by symbol and level; NaN: no double is equal to it
};

}  // namespace

struct PlainRows::Impl {
  DiagnosticSink& sink;
  DesignRun& run;
  const estimate::Convention& convention;
  std::size_t leastCompiled;
  std::unordered_map<const graph::Structure*, std::unique_ptr<Group>> groups;
  std::vector<Group*> groupOf;  ///< by position in run.chosen; null: the row broke a condition when its structure was made
  std::size_t compiled = 0;

  bool elaborate();
  void compile(Group& group) const;
  bool holdsApart(Group& group, const LevelIndices& levels) const;
  std::optional<estimate::Estimate> exact(Group& group, std::size_t row) const;

  /// Calls take(position, group, estimate) for every row whose structure is known, in order; null estimate: native code has none.
  template <class Take>
  void walk(const Take& take);
};

bool PlainRows::Impl::elaborate() {
  bool good = true;
  groupOf.assign(run.chosen.size(), nullptr);
  for (std::size_t i = 0; i < run.chosen.size(); ++i) {
    const graph::Structure* structure = run.experiment->known(run.rows[run.chosen[i]]);
    if (structure == nullptr) {
      const auto first = elaborateRow(run, run.chosen[i]);
      good = good && first.has_value();
      structure = run.experiment->known(run.rows[run.chosen[i]]);
      if (structure == nullptr) continue;
    }
    std::unique_ptr<Group>& group = groups[structure];
    if (group == nullptr) {
      group = std::make_unique<Group>();
      group->structure = structure;
      group->order = estimate::staticOrder(structure->graph);
    }
    ++group->rows;
    groupOf[i] = group.get();
  }
  for (auto& [structure, group] : groups) {
    if (group->rows >= leastCompiled && !group->structure->symbolFactor.empty()) compile(*group);
  }
  return good;
}

void PlainRows::Impl::compile(Group& group) const {
  const graph::Structure& structure = *group.structure;
  std::vector<bool> inexact;
  for (const std::uint32_t factor : structure.symbolFactor) {
    std::vector<double>& numbers = group.levelNumbers.emplace_back();
    for (const graph::Level& level : run.spec.factors[factor].levels) {
      const auto number = level.number ? level.number->exactDouble() : std::nullopt;
      numbers.push_back(number.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    inexact.push_back(std::any_of(numbers.begin(), numbers.end(), [](double number) { return number != number; }));
  }
  auto formulas = estimate::formulasOf(structure, inexact, convention);
  if (!formulas) return;
  auto kernel = jit::compileRows(formulas->pool, formulas->roots);
  if (!kernel) {
    if (kernel.error().bug) TBEM_BUG("{}", kernel.error().message);
    return;  // what has no such code is computed row by row
  }
  for (const sema::ExprId condition : formulas->conditions) {
    for (const sema::SymbolId symbol : structure.pool.symbolsOf(condition))
      group.apart.push_back(structure.symbolFactor[static_cast<std::uint32_t>(symbol)]);
  }
  std::sort(group.apart.begin(), group.apart.end());
  group.apart.erase(std::unique(group.apart.begin(), group.apart.end()), group.apart.end());
  group.formulas = std::move(*formulas);
  group.kernel = std::move(*kernel);
}

/// Conditions on levels that no double is equal to, once for each combination of them.
bool PlainRows::Impl::holdsApart(Group& group, const LevelIndices& levels) const {
  if (group.formulas->conditions.empty()) return true;
  LevelIndices key;
  for (const std::uint32_t factor : group.apart) key.push_back(levels[factor]);
  const auto [known, fresh] = group.apartHolds.try_emplace(std::move(key), false);
  if (fresh) {
    std::vector<std::optional<Rational>> assignment;
    for (const std::uint32_t factor : group.structure->symbolFactor)
      assignment.push_back(run.spec.factors[factor].levels[levels[factor]].number);
    const sema::Values values = group.structure->pool.evaluate(assignment);
    known->second = std::all_of(
        group.formulas->conditions.begin(), group.formulas->conditions.end(),
        [&](sema::ExprId condition) { return values.errorOf(condition) == sema::EvalError::None && values[condition].num != 0; });
  }
  return known->second;
}

std::optional<estimate::Estimate> PlainRows::Impl::exact(Group& group, std::size_t row) const {
  const auto elaborated = elaborateRow(run, row);
  if (!elaborated) return std::nullopt;
  auto estimate = estimate::estimateRow(elaborated->graph(), elaborated->values, nullptr, group.order, convention);
  if (estimate) return std::move(*estimate);
  sink.report(diag::row_without_number, estimate.error().range, estimate.error().what);
  return std::nullopt;
}

template <class Take>
void PlainRows::Impl::walk(const Take& take) {
  compiled = 0;
  for (std::size_t first = 0; first < run.chosen.size(); first += kTogether) {
    const std::size_t end = std::min(first + kTogether, run.chosen.size());
    struct Block {
      std::vector<double> levels;
      jit::RowValues values;
      std::size_t next = 0;
    };
    std::unordered_map<const Group*, Block> blocks;
    for (std::size_t i = first; i < end; ++i) {
      const Group* group = groupOf[i];
      if (group == nullptr || !group->kernel) continue;
      const LevelIndices& levels = run.rows[run.chosen[i]];
      Block& block = blocks[group];
      for (std::size_t s = 0; s < group->levelNumbers.size(); ++s)
        block.levels.push_back(group->levelNumbers[s][levels[group->structure->symbolFactor[s]]]);
    }
    for (auto& [group, block] : blocks) block.values = group->kernel->evaluate(block.levels);
    for (std::size_t i = first; i < end; ++i) {
      Group* group = groupOf[i];
      if (group == nullptr) continue;
      std::optional<estimate::Estimate> estimate;
      if (group->kernel) {
        Block& block = blocks.at(group);
        const std::size_t place = block.next++;
        if (block.values.certain[place] && holdsApart(*group, run.rows[run.chosen[i]]))
          estimate = estimate::estimateAt(*group->formulas, group->structure->graph, block.values.row(place));
      }
      if (estimate) ++compiled;
      take(i, *group, std::move(estimate));
    }
  }
}

PlainRows::PlainRows(DiagnosticSink& sink, DesignRun& run, const estimate::Convention& convention, std::size_t leastCompiled)
    : impl(new Impl{sink, run, convention, leastCompiled, {}, {}, 0}) {}
PlainRows::~PlainRows() = default;

std::size_t PlainRows::compiledRows() const { return impl->compiled; }

bool PlainRows::check() {
  bool good = impl->elaborate();
  impl->walk([&](std::size_t i, Group&, const std::optional<estimate::Estimate>& estimate) {
    if (!estimate && !elaborateRow(impl->run, impl->run.chosen[i])) good = false;
  });
  return good;
}

void PlainRows::each(const Visit& visit) {
  impl->walk([&](std::size_t i, Group& group, std::optional<estimate::Estimate> estimate) {
    if (!estimate) estimate = impl->exact(group, impl->run.chosen[i]);
    if (estimate) visit(impl->run.chosen[i], group.structure->graph, std::move(*estimate));
  });
}

}  // namespace tbem::driver
