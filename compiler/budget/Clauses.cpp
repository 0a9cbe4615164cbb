#include "compiler/budget/Clauses.h"

#include "compiler/count/Static.h"
#include "compiler/devices/Devices.h"
#include "compiler/diagnostics/tables/Budget.h"
#include "compiler/pytorch/eager/EagerStep.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace tbem::driver {

namespace {

/// The names of a table's kinds as words: "activation gradients" is `activation_gradients`.
BudgetQuantity quantityOfKind(std::string_view kind) {
  std::string name(kind);
  std::ranges::replace(name, ' ', '_');
  return {std::move(name), BudgetUnit::Bytes};
}

void addKinds(std::vector<BudgetQuantity>& list) {
  for (std::size_t k = 0; k < estimate::kKinds; ++k)
    list.push_back(quantityOfKind(estimate::kindName(static_cast<estimate::Kind>(k))));
}

std::vector<BudgetQuantity> ofShapes() {
  std::vector<BudgetQuantity> list = {{"parameters", BudgetUnit::Count},
                                      {"flops", BudgetUnit::Flops},
                                      {"flops_forward", BudgetUnit::Flops},
                                      {"memory", BudgetUnit::Bytes},
                                      {"static", BudgetUnit::Bytes}};
  addKinds(list);
  return list;
}

std::vector<BudgetQuantity> ofPlans() {
  std::vector<BudgetQuantity> list = {{"memory", BudgetUnit::Bytes}, {"arena", BudgetUnit::Bytes}, {"live", BudgetUnit::Bytes}};
  addKinds(list);
  return list;
}

std::vector<BudgetQuantity> ofPyTorch() {
  std::vector<BudgetQuantity> list = {{"memory", BudgetUnit::Bytes},
                                      {"reserved", BudgetUnit::Bytes},
                                      {"allocated", BudgetUnit::Bytes},
                                      {"live", BudgetUnit::Bytes}};
  for (std::size_t k = 0; k < estimate::kEagerKinds; ++k)
    list.push_back(quantityOfKind(estimate::eagerKindName(static_cast<estimate::EagerKind>(k))));
  return list;
}

constexpr sema::UnitPowers kPlain{}, kBytes{1, 0, 0, 0}, kFlops{0, 0, 0, 1};

std::string_view wants(BudgetUnit unit) {
  switch (unit) {
    case BudgetUnit::Count:
      return "a number above 0 such as 30e6";
    case BudgetUnit::Flops:
      return "FLOPs above 0 such as 8.2e9 or 8.2 GFLOP";
    case BudgetUnit::Bytes:
      return "a size above 0 such as 22 GiB";
  }
  return "";
}

bool isOf(BudgetUnit unit, const sema::UnitPowers& powers) {
  if (unit == BudgetUnit::Bytes) return powers == kBytes;
  return powers == kPlain || (unit == BudgetUnit::Flops && powers == kFlops);
}

std::string whereText(BudgetPlace place) {
  return place == BudgetPlace::Shapes ? "from shapes alone" : place == BudgetPlace::Plan ? "of a plan" : "in PyTorch";
}

/// One clause after the other, each into a budget.
class Reader : public sema::Evaluator {
public:
  Reader(Workspace& workspace, const graph::DesignSpec& spec)
      : Evaluator(*workspace.program, *spec.pool, workspace.session.sink), workspace(workspace), module(*spec.module) {}

  std::optional<Budget> read(const ast::Budget& clause) {
    Budget budget;
    budget.range = clause.limit->range;
    budget.text = textAt({clause.limit->range.begin, clause.on != nullptr ? clause.on->range.end : clause.limit->range.end});
    const auto* comparison = ast::dynCast<ast::Binary>(clause.limit);
    const auto* quantity = comparison != nullptr ? ast::dynCast<ast::NameRef>(comparison->left) : nullptr;
    const bool isLimit =
        comparison != nullptr && (comparison->op == ast::BinaryOp::Less || comparison->op == ast::BinaryOp::LessEqual);
    if (quantity == nullptr || !isLimit) {
      sink.report(diag::budget_form, clause.limit->range, textAt(clause.limit->range));
      return std::nullopt;
    }
    budget.below = comparison->op == ast::BinaryOp::Less;
    budget.quantity = quantity->name.text;
    if (clause.on != nullptr && !readPlace(*clause.on, budget)) return std::nullopt;
    if (!readQuantity(*quantity, budget) || !readLimit(*comparison->right, budget)) return std::nullopt;
    return budget;
  }

private:
  std::string textAt(SrcRange range) const { return std::string(workspace.session.sources.text(range)); }

  bool readQuantity(const ast::NameRef& word, Budget& budget) {
    const std::vector<BudgetQuantity>& all = budgetQuantities(budget.place);
    const auto found = std::ranges::find(all, budget.quantity, &BudgetQuantity::name);
    if (found != all.end()) {
      budget.unit = found->unit;
      return true;
    }
    Diagnostic& told = sink.report(diag::budget_quantity, word.range, budget.quantity, whereText(budget.place));
    std::vector<std::string> names;
    std::ranges::transform(all, std::back_inserter(names), &BudgetQuantity::name);
    const auto& shapes = budgetQuantities(BudgetPlace::Shapes);
    if (std::ranges::find(shapes, budget.quantity, &BudgetQuantity::name) != shapes.end())
      told.note(fmt::format("`{}` is the same everywhere: leave out what stands behind it", budget.quantity));
    else if (const std::string near = nearest(budget.quantity, names); !near.empty())
      told.note(fmt::format("did you mean `{}`?", near)).fix(word.range, near);
    told.note(fmt::format("there are `{}`", fmt::join(names, "`, `")));
    return false;
  }

  bool readLimit(const ast::Expr& number, Budget& budget) {
    const sema::Value value = evaluateIn(module, number, {});
    if (value.isPoison()) return false;
    const auto limit = value.is(sema::ValueKind::Number) ? pool.constantValue(value.expr) : std::nullopt;
    if (!limit || limit->num <= 0 || !isOf(budget.unit, value.unit)) {
      sink.report(diag::budget_limit, number.range, budget.quantity, wants(budget.unit), textAt(number.range));
      return false;
    }
    budget.limit = limit->toDouble();
    return true;
  }

  bool readPlace(const ast::Expr& on, Budget& budget) {
    const auto* call = ast::dynCast<ast::Call>(&on);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : &on);
    const std::string name = word != nullptr ? word->name.text : "";
    if (call == nullptr && (name == "cpu" || name == "ref")) {
      budget.place = BudgetPlace::Plan;
      budget.backend = name;
      return true;
    }
    const bool named = call != nullptr && call->arguments.size() == 1 && call->arguments[0].name.empty();
    const auto* device = named ? ast::dynCast<ast::NameRef>(call->arguments[0].value) : nullptr;
    if (name != "pytorch" || device == nullptr) {
      Diagnostic& told = sink.report(diag::budget_place, on.range, textAt(on.range));
      if (name == "cuda")
        told.note("a budget of a plan on a card is not there yet; `on pytorch(h100)` is a step of PyTorch on such a card");
      return false;
    }
    budget.place = BudgetPlace::PyTorch;
    budget.backend = device->name.text == "cpu" ? "pytorch-cpu" : "pytorch";
    if (device->name.text == "cpu") return true;
    budget.device = device->name.text;
    const auto found = namedDevice(workspace, budget.device);
    if (found) return true;
    for (const std::string& message : found.error().messages) sink.report(diag::budget_device, device->range, message);
    return false;
  }

  Workspace& workspace;
  const sema::Module& module;
};

}  // namespace

std::string textOf(BudgetUnit unit, double value) {
  switch (unit) {
    case BudgetUnit::Count:
      return report::grouped(std::llround(value));
    case BudgetUnit::Flops:
      return report::flops(value);
    case BudgetUnit::Bytes:
      return report::bytes(static_cast<std::uint64_t>(value));
  }
  return {};
}

const std::vector<BudgetQuantity>& budgetQuantities(BudgetPlace place) {
  static const std::vector<BudgetQuantity> shapes = ofShapes(), plans = ofPlans(), pytorch = ofPyTorch();
  return place == BudgetPlace::Shapes ? shapes : place == BudgetPlace::Plan ? plans : pytorch;
}

std::vector<Budget> readBudgets(Workspace& workspace, const graph::DesignSpec& spec) {
  std::vector<Budget> budgets;
  if (spec.decl == nullptr) return budgets;
  Reader reader(workspace, spec);
  for (const ast::Budget& clause : spec.decl->budgets) {
    if (auto budget = reader.read(clause)) budgets.push_back(*std::move(budget));
  }
  return budgets;
}

}  // namespace tbem::driver
