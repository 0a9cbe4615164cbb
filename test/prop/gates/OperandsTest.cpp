// What stands behind a gate may read operands in many ways: rows of its samples, values of all of them, of other axes, repeated
// ones. However it reads them, a step gives what computing everything and selecting gives, on `ref` and on `cpu`.
#include "test/oracle/Graph.h"
#include "test/prop/gates/Loaded.h"

#include "runtime/core/Decisions.h"

#include <cmath>
#include <random>

namespace tbem::test {
namespace {

using runtime::HostTensor;

/// Weights and inputs that differ from 0 and from one another; whole numbers from 0 to 2.
void fill(runtime::Instance& instance) {
  for (std::uint32_t s = 0; s < instance.executable().storages.size(); ++s) {
    const runtime::StorageDesc& storage = instance.executable().storages[s];
    if (storage.kind != runtime::BufferClass::Weight && storage.kind != runtime::BufferClass::Input) continue;
    std::mt19937 random(7 + s);
    const HostTensor now = *instance.readStorage(s);
    std::vector<double> values(now.count());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto number = static_cast<float>(std::normal_distribution<double>()(random));
      values[i] = now.dtype == TBEM_I64 ? std::floor(std::min(2.0F, std::abs(number))) : number;
      if (storage.path == "g")
        values[i] = i % 2 == 0 ? std::abs(number) : -std::abs(number);  // what gates compare goes both ways
    }
    ASSERT_TRUE(instance.writeStorage(s, HostTensor::of(now.dtype, now.dims, values)));
  }
}

std::vector<double> run(Loaded& l) {
  const auto done = l.instance->run(1);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  if (!done) return {};
  const auto arena = l.instance->measureArena();
  EXPECT_TRUE(arena && arena->guardIntact && arena->stray == runtime::kAbsent);
  return l.instance->read(l.instance->executable().outputs.front())->doubles();
}

std::vector<double> selected(const Loaded& l) {
  oracle::GraphInterpreter all(*l.row);
  for (const runtime::StorageDesc& storage : l.compiled->executable.storages) {
    const HostTensor value = *l.instance->read(storage.buffer);
    for (std::uint32_t t = 0; t < l.row->graph().tensors.size(); ++t) {
      const auto id = static_cast<graph::TensorId>(t);
      if (l.row->graph()[id].producer == graph::kNoOp && l.row->graph()[l.row->graph()[id].storage].path == storage.path)
        all.of(id) = value.doubles();
    }
  }
  all.run(graph::Phase::Forward);
  return all.of(l.row->graph().outputs.front());
}

struct Case {
  const char* name;
  const char* text;
};

constexpr Case kCases[] = {
    {"permuted", R"(
network net(x: tensor[m, n], g: tensor[n]) -> tensor[n, m] {
  let u = permute(x |> relu, [1, 0])
  let y = skip (u |> dense(m)) when g <= 0 leaving u
  return y
}
design d of net { input x: [3, 5]
  input g: [5] })"},
    {"permuted_loop", R"(
network net(x: tensor[m, n], g: tensor[n]) -> tensor[n, m] {
  let u = permute(x |> relu, [1, 0])
  let y = skip relu(u) when g <= 0 leaving u
  return y
}
design d of net { input x: [3, 5]
  input g: [5] })"},
    {"sequence_first", R"(
network net(x: tensor[l, n, m], g: tensor[n]) -> tensor[n, l, m] {
  let u = x |> relu |> permute([1, 0, 2])
  let y = skip (u |> dense(m) |> relu) when g <= 0 leaving u
  return y
}
design d of net { input x: [5, 6, 3]
  input g: [6] })"},
    {"places_of_one_image", R"(
network net(x: tensor[n, c, p], g: tensor[n, p]) -> tensor[n, p, c]
  pre n = 1
{
  let u = x |> relu |> reshape([c, p]) |> permute([1, 0])
  let y = skip (u |> dense(c) |> relu) when reshape(g, [p]) <= 0 leaving u
  return y |> reshape([1, p, c])
}
design d of net { input x: [1, 4, 9]
  input g: [1, 9] })"},
    {"normalised_wide", R"(
network net(x: tensor[m, n], g: tensor[n]) -> tensor[n, m] {
  let u = permute(x |> relu, [1, 0])
  let y = skip (u |> layer_norm |> relu) when g <= 0 leaving u
  return y
}
design d of net { input x: [50, 100]
  input g: [100] })"},
    {"token_mixing", R"(
block mixer(x: tensor[n, k, l]; m: int) -> tensor[n, l, m] {
  weight w: tensor[k, m] init normal(0, 1)
  return matmul(x, w, transpose_a: true)
}
network net(x: tensor[n, k, l], g: tensor[n]) -> tensor[n, l, 4] {
  let z = x |> permute([0, 2, 1])
  let y = skip mixer(x, m: 4) when g <= 0 leaving z
  return y
}
design d of net { input x: [4, 4, 3]
  input g: [4] })"},
    {"repeated_from_the_left", R"(
block table(x: tensor[n, k, d]; m: int) -> tensor[n, m, d] {
  weight t: tensor[m, k] init normal(0, 1)
  return matmul(t, x)
}
network net(x: tensor[n, k, d], g: tensor[n]) -> tensor[n, 4, d] {
  let y = skip table(x, m: 4) when g <= 0 leaving zeros([n, 4, d])
  return y
}
design d of net { input x: [4, 3, 3]
  input g: [4] })"},
    {"as_many_heads", R"(
network net(x: tensor[n, h, l, k], t: tensor[h, k, m], g: tensor[n]) -> tensor[n, h, l, m] {
  let y = skip matmul(x, t) when g <= 0 leaving zeros([n, h, l, m])
  return y
}
design d of net { input x: [4, 4, 3, 2]
  input t: [4, 2, 5]
  input g: [4] })"},
    {"repeated_dimension_of_one", R"(
network net(x: tensor[n, h, l, k], t: tensor[p, h, k, m], g: tensor[n]) -> tensor[n, h, l, m]
  pre p = 1
{
  let y = skip matmul(x, t) when g <= 0 leaving zeros([n, h, l, m])
  return y
}
design d of net { input x: [4, 2, 3, 2]
  input t: [1, 2, 2, 5]
  input g: [4] })"},
    {"rows_in_halves", R"(
network net(x: tensor[n, c, h, w], g: tensor[n, h, w]) -> tensor[q, c]
  post q = n * h * w
{
  let rows = x |> permute([0, 2, 3, 1]) |> reshape([n * h * w, c])
  let y = skip (rows |> reshape([n * h * w * 2, c / 2]) |> dense(c / 2) |> reshape([n * h * w, c]))
      when reshape(g, [n * h * w]) <= 0 leaving zeros([n * h * w, c])
  return y
}
design d of net { input x: [2, 8, 3, 3]
  input g: [2, 3, 3] })"},
    {"attention_to_all", R"(
network net(x: tensor[n, d], g: tensor[n]) -> tensor[n, d] {
  let u = x |> relu
  let y = skip matmul(matmul(x |> dense(d), u, transpose_b: true) |> softmax(axis: 1), u |> reshape([n, d])) when g <= 0
      leaving u
  return y
}
design d of net { input x: [6, 4]
  input g: [6] })"},
    {"moved_whole", R"(
network net(x: tensor[n, c, h, w], g: tensor[n, h, w]) -> tensor[q, c]
  post q = n * h * w
{
  let rows = x |> permute([0, 2, 3, 1]) |> reshape([n * h * w, c])
  let a = matmul(rows, rows, transpose_b: true)
  let y = skip (permute(a, [1, 0]) |> dense(c) |> layer_norm) when reshape(g, [n * h * w]) <= 0 leaving rows
  return y
}
design d of net { input x: [1, 4, 2, 2]
  input g: [1, 2, 2] })"},
    {"embedded_from_outside", R"(
network net(tokens: i64[n, l], g: tensor[n]) -> tensor[n, l, 4] {
  let y = skip (tokens |> embedding(10, 4) |> dense(4)) when g <= 0 leaving zeros([n, l, 4])
  return y
}
design d of net { input tokens: [5, 3]
  input g: [5] })"},
    {"reversed", R"(
network net(x: tensor[n, d], g: tensor[n]) -> tensor[n, d] {
  let y = skip (flip(x, axis: 0) |> dense(d)) when g <= 0 leaving x
  return y
}
design d of net { input x: [6, 4]
  input g: [6] })"},
    {"rotated_in_one_row", R"(
network net(x: tensor[n, d], g: tensor[n]) -> tensor[n, d] {
  let y = skip (x + (x |> reshape([n * d]) |> slice(start: [20], size: [d]) |> reshape([1, d]))) when g <= 0 leaving x
  return y
}
design d of net { input x: [6, 4]
  input g: [6] })"},
    {"a_table_of_as_many_rows", R"(
network net(x: tensor[n, d], t: tensor[m, d], g: tensor[n]) -> tensor[n, d] {
  let y = skip matmul(matmul(x |> dense(d), t |> reshape([m * 2, d / 2]) |> reshape([m, d]), transpose_b: true),
                      t |> permute([1, 0]), transpose_b: true) when g <= 0 leaving x
  return y
}
design d of net { input x: [4, 6]
  input t: [4, 6]
  input g: [4] })"},
    {"numbers_of_elements_from_outside", R"(
network net(x: tensor[n, l, d], ids: i64[k], g: tensor[n]) -> tensor[n, k, d] {
  let y = skip (gather(x, ids, axis: 1) |> dense(d)) when g <= 0 leaving zeros([n, k, d])
  return y
}
design d of net { input x: [3, 3, 4]
  input ids: [3]
  input g: [3] })"},
    {"channels_first_for_the_exit", R"(
network net(x: tensor[n, l, d], t: tensor[m, d]) -> tensor[n, d] {
  let kept = skip t |> dense(d) when max(t, axis: 1) >= 0.9 leaving t
  let r = x |> reshape([n * l, d])
  let z = matmul(mean(x, axis: 1), kept, transpose_b: true) |> dense(d)
  exit z when max(z, axis: 1) >= 0.2
  return r |> dense(d) |> reshape([n, l, d]) |> mean(axis: 1)
}
design d of net { input x: [4, 3, 4]
  input t: [6, 4] })"},
};

class Operands : public ::testing::TestWithParam<Case> {};

TEST_P(Operands, AreReadAsWhereAllIsComputed) {
  Loaded exact = load(GetParam().text, TBEM_F64, *tbem_backend_ref());
  Loaded fast = load(GetParam().text, TBEM_F32, *tbem_backend_cpu());
  ASSERT_TRUE(exact.instance && fast.instance);
  for (Loaded* l : {&exact, &fast}) fill(*l->instance);
  const std::vector<double> wanted = selected(exact), got = run(exact), inSingle = run(fast);
  ASSERT_EQ(wanted.size(), got.size());
  ASSERT_EQ(wanted.size(), inSingle.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-9 * (1 + std::abs(wanted[i]))) << i;
    EXPECT_NEAR(inSingle[i], wanted[i], 1e-3 * (1 + std::abs(wanted[i]))) << i;
  }
  // Some samples take each way, or the test would not be one.
  const auto decisions = runtime::decisions(*exact.instance);
  ASSERT_TRUE(decisions);
  for (const runtime::Decision& decision : *decisions) {
    EXPECT_GT(decision.reached(), 0) << decision.gate;
    EXPECT_TRUE(decision.exits || (decision.taken() > 0 && decision.taken() < decision.reached())) << decision.gate;
  }
}

INSTANTIATE_TEST_SUITE_P(Behind, Operands, ::testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace tbem::test
