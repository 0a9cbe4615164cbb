#include "compiler/budget/Report.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Budget.h"
#include "compiler/sema/Walk.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tbem::driver {

namespace {

constexpr std::size_t kMostParts = 3, kMostTries = 4;

/// Whether a factor is the first dimension of an input: the batch.
bool isBatch(const graph::DesignSpec& spec, const graph::FactorSpec& factor) {
  return std::ranges::any_of(spec.inputs, [&](const graph::InputSpec& input) {
    const auto* shape = ast::dynCast<ast::List>(input.shape);
    const auto* first = shape != nullptr && !shape->items.empty() ? ast::dynCast<ast::NameRef>(shape->items[0]) : nullptr;
    return first != nullptr && first->name.text == factor.name;
  });
}

/// Factors of numbers that every row has, the batch first.
std::vector<std::uint32_t> numericFactors(const graph::DesignSpec& spec) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
    if (spec.factors[f].numeric() && !spec.factors[f].parent) factors.push_back(f);
  }
  std::ranges::stable_partition(factors, [&](std::uint32_t f) { return isBatch(spec, spec.factors[f]); });
  return factors;
}

/// Levels of a factor below the row's, largest first.
std::vector<std::uint32_t> smallerLevels(const graph::FactorSpec& factor, std::uint32_t at) {
  std::vector<std::uint32_t> smaller;
  const double here = factor.levels[at].number->toDouble();
  for (std::uint32_t level = 0; level < factor.levels.size(); ++level) {
    if (factor.levels[level].number->toDouble() < here) smaller.push_back(level);
  }
  std::ranges::sort(smaller, std::ranges::greater(),
                    [&](std::uint32_t level) { return factor.levels[level].number->toDouble(); });
  if (smaller.size() > kMostTries) smaller.resize(kMostTries);
  return smaller;
}

/// "with `batch` = 16 it is 11.2 GiB": the first factor of which a smaller level holds, all others as they are; "": there is
/// none.
std::string smallerLevel(State& state, DesignRun& run, const BudgetVerdict& verdict, const BudgetTrial& trial) {
  std::string text;
  const LevelIndices levels = run.rows[verdict.worst()->row];
  reportsOf(state.sink(), [&] {
    for (const std::uint32_t f : numericFactors(run.spec)) {
      const graph::FactorSpec& factor = run.spec.factors[f];
      for (const std::uint32_t level : smallerLevels(factor, levels[f])) {
        LevelIndices other = levels;
        other[f] = level;
        const auto row = run.experiment->row(other);
        const std::optional<double> value = row ? trial(*row) : std::nullopt;
        if (!value || !verdict.budget.holds(*value)) continue;
        text =
            fmt::format("with `{}` = {} it is {}", factor.name, factor.levels[level].text, textOf(verdict.budget.unit, *value));
        return;
      }
    }
  });
  return text;
}

/// A size as `--max` takes it.
std::string sizeOption(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U, kGiB = std::uint64_t{1} << 30U;
  if (bytes >= kGiB && bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  return bytes >= kMiB ? fmt::format("{}MiB", bytes / kMiB) : std::to_string(bytes);
}

/// The command that looks for the largest batch; "": there is none for the quantity.
std::string fitCommand(const State& state, const DesignRun& run, const BudgetVerdict& verdict, std::uint64_t beside) {
  const Budget& budget = verdict.budget;
  const bool isWhole = budget.quantity == "memory" || budget.quantity == "arena" || budget.quantity == "reserved";
  const std::vector<std::uint32_t> factors = numericFactors(run.spec);
  if (budget.place == BudgetPlace::Shapes || !isWhole || factors.empty()) return {};
  const auto limit = static_cast<std::uint64_t>(budget.limit);
  const std::uint64_t tensors = budget.quantity == "memory" ? limit - std::min(limit, beside) : limit;
  if (tensors == 0) return {};
  const std::string& path = state.workspace->path;
  std::string command = fmt::format("tbemc fit {} --vary {} --max {} --on {}", path.empty() ? "FILE" : path,
                                    run.spec.factors[factors.front()].name, sizeOption(tensors), budget.backend);
  if (!budget.device.empty()) command += " --device " + budget.device;
  return command;
}

std::string sharesText(const Budget& budget, const std::vector<BudgetPart>& parts) {
  double shown = 0, all = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all += parts[i].amount;
    if (i < kMostParts) shown += parts[i].amount;
  }
  std::string text = "most of it: ";
  for (std::size_t i = 0; i < std::min(kMostParts, parts.size()); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", textOf(budget.unit, parts[i].amount), parts[i].name);
  if (parts.size() > kMostParts)
    text += fmt::format("; {} more part{} {}", parts.size() - kMostParts, parts.size() - kMostParts == 1 ? " takes" : "s take",
                        textOf(budget.unit, all - shown));
  return text;
}

}  // namespace

void reportBudget(State& state, DesignRun& run, const BudgetVerdict& verdict, const BudgetBreach& breach) {
  const Budget& budget = verdict.budget;
  const BudgetVerdict::Row& worst = *verdict.worst();
  const std::string smaller = breach.trial ? smallerLevel(state, run, verdict, breach.trial) : std::string();
  const std::string value = (worst.figure.atLeast ? "at least " : "") + textOf(budget.unit, worst.figure.value);
  Diagnostic& told =
      state.sink().report(diag::budget_exceeded, budget.range, budget.quantity, value,
                          textOf(budget.unit, worst.figure.value - budget.limit), textOf(budget.unit, budget.limit));
  for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
    const graph::Level& level = run.spec.factors[f].levels[run.rows[worst.row][f]];
    if (!level.absent) told.level(run.spec.factors[f].name, level.text);
  }
  for (std::size_t i = 0; i < std::min(kMostParts, breach.parts.size()); ++i) {
    const BudgetPart& part = breach.parts[i];
    if (part.range.valid()) told.label(part.range, fmt::format("{} {}", textOf(budget.unit, part.amount), part.name));
  }
  const auto broken = std::ranges::count(verdict.rows, false, &BudgetVerdict::Row::holds);
  told.note(fmt::format("row {} of {} takes most; {} of {} rows break the budget", worst.row + 1, run.spec.name, broken,
                        verdict.rows.size()));
  if (!breach.parts.empty()) told.note(sharesText(budget, breach.parts));
  if (!smaller.empty()) told.note(smaller + ", the other levels as they are");
  if (const std::string command = fitCommand(state, run, verdict, breach.beside); !command.empty())
    told.note(fmt::format("`{}` finds the largest that fits", command));
}

}  // namespace tbem::driver
