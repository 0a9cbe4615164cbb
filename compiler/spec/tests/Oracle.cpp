#include "compiler/spec/tests/Oracle.h"

namespace tbem::spec {

namespace {
std::vector<ExprId> rootsOf(const ProcessModel& model, const std::vector<Scenario>& scenarios) {
  std::vector<ExprId> roots{model.pre};
  for (const Scenario& one : scenarios) {
    roots.push_back(one.guard);
    roots.push_back(one.definition);
  }
  return roots;
}
}  // namespace

Oracle::Oracle(const ProcessModel& model, const std::vector<Scenario>& list)
    : scenarios(list.size()), points(model.pool, rootsOf(model, list)) {}

bool Oracle::admits(const Point& point) {
  points.at(point);
  return points.holds(0);
}

std::optional<std::size_t> Oracle::violated(const Point& point) {
  points.at(point);
  for (std::size_t i = 0; i < scenarios; ++i) {
    if (points.holds(2 * i + 1) && !points.holds(2 * i + 2)) return i;
  }
  return std::nullopt;
}

}  // namespace tbem::spec
