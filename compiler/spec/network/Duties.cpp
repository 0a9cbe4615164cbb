#include "compiler/spec/network/Duties.h"

#include <set>

namespace tbem::spec {

std::vector<Duty> dutiesOf(const graph::Structure& structure) {
  std::vector<Duty> duties;
  std::set<sema::ExprId> seen;
  for (const graph::Obligation& one : structure.graph.obligations) {
    const bool agrees = one.kind == graph::Obligation::Kind::Dimension;
    if (seen.insert(one.condition).second)
      duties.push_back(
          {one.condition, false, one.subject, agrees ? "dimension " + one.text + " agrees" : one.text, one.range, one.use});
  }
  for (const graph::Tensor& tensor : structure.graph.tensors) {
    for (const sema::ExprId dim : tensor.shape) {
      if (seen.insert(dim).second) duties.push_back({dim, true, tensor.name, {}, tensor.range, tensor.range});
    }
  }
  return duties;
}

std::string textOf(const sema::ExprPool& pool, const Duty& duty) {
  return duty.isDimension ? pool.str(duty.expr) + " is a whole number above 0" : duty.text;
}

}  // namespace tbem::spec
