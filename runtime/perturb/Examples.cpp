#include "runtime/perturb/Examples.h"

#include "runtime/core/Primitive.h"
#include "runtime/perturb/Bounds.h"

#include <fmt/format.h>

namespace tbem::perturb {

using Kind = Failure::Kind;

std::int64_t Examples::total() const { return std::min(plan.count, dataset.description().count(plan.split)); }

Result<Batch> Examples::read(std::int64_t number) const {
  auto batch = readAny(number);
  for (std::int64_t i = 0; batch && i < batch->count; ++i) {
    const std::string problem = outsideOfBox(plan, batch->input(i));
    if (!problem.empty()) return tl::unexpected(outside(batch->examples[static_cast<std::size_t>(i)], problem));
  }
  return batch;
}

Result<Batch> Examples::readAny(std::int64_t number) const {
  const data::Description& about = dataset.description();
  Batch batch;
  batch.number = number;
  batch.count = end(number) - first(number);
  for (std::int64_t i = 0; i < plan.batch; ++i) batch.examples.push_back(first(number) + std::min(i, batch.count - 1));
  batch.inputs.resize(batch.examples.size() * static_cast<std::size_t>(about.inputs.front().elements()));
  const std::size_t targets = batch.examples.size() * static_cast<std::size_t>(about.target.elements());
  std::vector<std::int64_t> classes(about.classes > 0 ? targets : 0);
  std::vector<float> numbers(about.classes > 0 ? 0 : targets);
  const data::Batch into{{batch.inputs.data()}, classes.data(), numbers.data()};
  if (const auto read = dataset.read(plan.split, batch.examples, into); !read) return failure(Kind::Environment, read.error());
  batch.labels.assign(batch.examples.size(), -1);
  if (classes.size() == batch.labels.size()) {  // one an example
    std::ranges::replace_copy(classes, batch.labels.begin(), runtime::kNoClass, std::int64_t{-1});
  }
  return batch;
}

Failure Examples::outside(std::int64_t example, const std::string& problem) const {
  Range range;
  for (std::int64_t number = 0; number < batches(); ++number) {
    const auto batch = readAny(number);
    if (!batch) return batch.error();
    range.add(batch->inputs);
  }
  return {Kind::Environment,
          fmt::format("example {} of the {} split {}; numbers of the examples are {}, which the clause `box` is to say", example,
                      plan.split == data::Split::Test ? "test" : "training", problem, range.text())};
}

}  // namespace tbem::perturb
