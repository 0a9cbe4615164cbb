// Equal applications are copied and not elaborated again. Where calls are recorded each one is elaborated, which is what copies
// are held against here, to the last name, range and condition.
#include "Fixture.h"
#include "GraphText.h"
#include "compiler/graph/ir/Verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace tbem::test {
namespace {

/// Elaborates with and without copies. The graph with copies, after it was found equal to the other; nothing after a failure.
std::optional<graph::Row> compared(Built& copied, const std::string& program) {
  Built each(program, {.recordCalls = true});
  const std::optional<graph::Row> expected = each.row();
  std::optional<graph::Row> found = copied.row();
  EXPECT_TRUE(expected && found) << program << each.errors() << copied.errors();
  if (!expected || !found) return std::nullopt;
  EXPECT_EQ(graph::verify(found->graph()), std::vector<std::string>{}) << program;
  const std::vector<std::string> wanted = everything(expected->graph()), made = everything(found->graph());
  const auto [want, got] = std::ranges::mismatch(wanted, made);
  if (want == wanted.end() && got == made.end()) return found;
  ADD_FAILURE() << program << "expected: " << (want == wanted.end() ? "no more" : *want)
                << "\nfound:    " << (got == made.end() ? "no more" : *got);
  return std::nullopt;
}

constexpr const char* kImage =
    "factor batch: 2, 4\n input x: [batch, 3, 32, 32]";  // what depends on a factor are conditions of rows
constexpr const char* kTrain = "\n task train(loss: cross_entropy, optimizer: adam(lr: 0.01))";

class CopiesOfTheLibrary : public testing::TestWithParam<const char*> {};

TEST_P(CopiesOfTheLibrary, AreWhatElaborationMakes) {
  const std::string call = GetParam();
  const bool reads = call.find("context") != std::string::npos;
  const bool asks = call.starts_with("deebert") || call.starts_with("bert");
  std::string program =
      "import std.vision: cifar_resnet, densenet, mobilenet_v3, vit, swin, unet, shufflenet_v2, convnext\n"
      "import std.text: gpt2, bert, llama\n"
      "import std.adaptive: skipnet, blockdrop, sdn_resnet56, msdnet, act_resnet, dynconv, deebert, "
      "mixture_of_depths, ranet\ndesign d of " +
      call + " {\n factor batch: 2, 4\n ";
  program += reads ? "input tokens: [batch, 20]" : "input image: [batch, 3, 32, 32]";
  if (asks) program += "\n input segments: [batch, 20]";
  for (const std::string task : {"", kTrain}) {
    const bool hasSeveralResults = call.starts_with("act") || call.starts_with("dynconv");
    if (!task.empty() && (hasSeveralResults || call.starts_with("mixture"))) continue;
    Built built(program + task + "\n}\n");
    compared(built, program + task + "\n}\n");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, CopiesOfTheLibrary,
    testing::Values("cifar_resnet(depth: 20)", "densenet(growth: 8, classes: 10)", "mobilenet_v3(small: true, classes: 10)",
                    "vit(layers: 3, width: 32, heads: 4, patch: 8, classes: 10)", "unet(classes: 10, width: 4)",
                    "shufflenet_v2(classes: 10)", "convnext(width: 16, units: [2, 2, 2, 1], classes: 10)",
                    "gpt2(vocab: 101, context: 32, layers: 3, width: 32, heads: 4)",
                    "bert(vocab: 101, context: 32, layers: 3, width: 32, heads: 4, classes: 5)",
                    "llama(vocab: 101, context: 32, layers: 3, width: 32, heads: 4, groups: 2, hidden: 48)", "skipnet(n: 3)",
                    "skipnet(n: 2, gates: \"feed_forward_1\", as_released: true)", "blockdrop(n: 3)", "sdn_resnet56()",
                    "msdnet(steps: [2, 1], classes: 10)", "act_resnet(n: 2)", "dynconv(n: 2)", "ranet(classes: 10)",
                    "deebert(vocab: 101, context: 32, layers: 3, width: 32, heads: 4)",
                    "mixture_of_depths(vocab: 101, context: 32, layers: 4, width: 32, heads: 4)"));

struct Program {
  const char* name;
  const char* text;
};
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }
class Copies : public testing::TestWithParam<Program> {};

TEST_P(Copies, AreWhatElaborationMakes) {
  const std::string program = std::string(GetParam().text) + "design d of net { " + kImage;
  for (const char* task : {" }\n", "\n task train(loss: mse, optimizer: sgd(lr: 0.1)) }\n"}) {
    const std::string text = program + task;
    Built built(text);
    compared(built, text);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Copies,
    testing::Values(
        Program{"shared", R"(block unit(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  return x |> conv2d(out: c, kernel: 3, pad: 1) |> batch_norm |> relu
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let once = unit()
  var y = unit(x)
  for i in 0 .. 4 as turn { y = once(y) }
  return unit(y)
}
)"},
        Program{"places of tensors",
                R"(block both(x: tensor[n, c, h, w], y: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return relu(x + y) * y }
block flat(x: tensor[n, c, h, w]) -> tensor[n, c * h * w] { return reshape(x, [n, c * h * w]) }
block mixed(x: tensor[n, m], y: tensor[n, m]) -> tensor[n, m] {
  let z = reshape(y, [n * m])
  return relu(x) + reshape(z, [n, m])
}
block same(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return x }
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let a = relu(x)
  let other = relu(a)
  let seen = flat(a)
  let b = both(a, a) + both(a, other) + both(x, a) + both(a, x) + both(x, x) + both(other, a)
  let views = mixed(seen, seen) + mixed(seen, flat(a)) + mixed(seen, flat(other))
  let f = views + flat(a) + flat(b) + flat(same(b)) + flat(same(a))
  return reshape(f, [n, c, h, w]) + same(same(x))
}
)"},
        Program{
            "random numbers",
            R"(block noisy(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return x |> dropout(p: 0.5) |> relu |> dropout(p: 0.5) }
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let d = dropout(p: 0.5)
  var y = x
  for i in 0 .. 3 as turn { y = d(noisy(y)) }
  return y
}
)"},
        Program{"buffers", R"(block follow(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  buffer last: tensor[n, c, h, w] init zeros
  let y = relu(last + x)
  last = relu(y)
  return y + last
}
block pass(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  buffer last: tensor[n, c, h, w] init zeros
  last = x
  return last + x
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let f = follow()
  return x |> follow |> follow |> f |> f |> f |> pass |> relu |> pass |> relu |> pass |> relu |> pass
}
)"},
        Program{"callables",
                R"(block twice(x: tensor[n, c, h, w]; inner: operator = relu) -> tensor[n, c, h, w] { return inner(inner(x)) }
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let shared = conv2d(out: c, kernel: 1)
  let y = x |> twice |> twice |> twice(inner: conv2d(out: c, kernel: 1)) |> twice(inner: conv2d(out: c, kernel: 1))
  return y |> twice(inner: shared) |> twice(inner: shared)
}
)"},
        Program{"gates", R"(block gated(x: tensor[n, c, h, w]; tau: real) -> tensor[n, c, h, w] {
  let g = x |> global_avg_pool |> dense(1) |> sigmoid |> reshape([n])
  let y = skip conv2d(x, out: c, kernel: 3, pad: 1) when g <= tau leaving x
  return y
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  var y = x
  for i in 0 .. 3 as turn { y = y |> gated(tau: 0.5) }
  let g = y |> global_avg_pool |> dense(1) |> sigmoid |> reshape([n])
  let z = skip gated(gated(y, tau: 0.5), tau: 0.25) when g <= 0.5 leaving gated(y, tau: 0.5)
  return z
}
)"},
        Program{"own weights given", R"(block tied(x: tensor[n, c, h, w], k: tensor[c, c, a, b]) -> tensor[n, c, h, w] {
  weight weight: tensor[c, c, 1, 1] init he_normal
  return correlate2d(x, weight) + correlate2d(x, k)
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let e = conv2d(out: c, kernel: 1)
  let h0 = e(x)
  let t = tied()
  let a = t(h0, e.weight)
  let b = t(a, t.weight)
  return t(t(b, e.weight), t.weight)
}
)"},
        Program{"what was made last", R"(block pass(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  buffer last: tensor[n, c, h, w] init zeros
  last = x
  return last + x
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let a = relu(x)
  let b = relu(a)
  let q = pass(a)
  let d = relu(b)
  return pass(d) + pass(q) + pass(reshape(relu(d), [n, c, h, w]))
}
)"},
        Program{"names of arguments", R"(block blk(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let z = relu(x)
  let w2 = z * z
  return w2
}
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let p = conv2d(out: shape(blk(x))[1], kernel: 1)
  let q = conv2d(out: shape(blk(relu(x)))[1], kernel: 1)
  let r = conv2d(out: shape(blk(relu(x)))[1], kernel: 1)
  return x |> p |> q |> r
}
)"},
        Program{"own gradients and lists", R"(operator own(x: tensor[n, c, h, w]) -> (y: tensor[n, c, h, w])
  backward x: dy * 2
{
  let z = relu(x)
  return z * 3
}
block sum_of(xs: list of tensor[n, c, h, w]; times: int = 1) -> tensor[n, c, h, w] {
  var y = xs[0]
  for i in 1 .. len(xs) { y = y + xs[i] }
  for i in 0 .. times { y = own(y) }
  return y
}
network inner(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return x |> own |> conv2d(out: c, kernel: 1) |> own }
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let a = inner(x)
  let b = inner(a)
  return sum_of([a, b, a]) + sum_of([b, a, a]) + sum_of([a, b, a]) + sum_of([b, b], times: 2)
}
)"},
        Program{
            "stopped",
            R"(block half(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return stop_gradient(x |> conv2d(out: c, kernel: 1)) + x }
network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  return x |> half |> half |> half |> leaky_relu(slope: 0.1) |> leaky_relu(slope: 0.1) |> leaky_relu(slope: 0.2)
}
)"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

/// How a training treats gates, whose decisions are kept outside of the graph.
TEST(Replay, GatesOfTrainings) {
  const std::string network = R"(block gated(x: tensor[n, c]; tau: real) -> tensor[n, c] {
  let g = x |> dense(1) |> sigmoid |> reshape([n])
  let y = skip dense(x, c) when g <= tau leaving x
  return y
}
network net(x: tensor[n, c]) -> tensor[n, c] {
  let shared = gated(tau: 0.5)
  return x |> gated(tau: 0.5) |> gated(tau: 0.5) |> shared |> shared |> gated(tau: 0.5)
}
operator saved(computed: tensor[b, g], y: tensor[b, c], t: tensor[b, c]) -> (reward: tensor[b, g]) { return 1 - computed }
)";
  for (const char* gates : {"straight_through", "soft", "gumbel(temperature: 0.5)", "reinforce(reward: saved())",
                            "reinforce(reward: saved(), baseline: likeliest)"}) {
    const std::string program = network + "design d of net { factor batch: 2, 4\n input x: [batch, 3]\n" +
                                " task train(loss: mse, optimizer: sgd(lr: 0.1), gates: " + gates + ") }\n";
    Built built(program);
    compared(built, program);
  }
}

/// Structures of one design share nothing, and a mutation's places are elaborated each time.
TEST(Replay, FactorsThatSteerAndMutations) {
  const std::string program = R"(import std.vision: small_vgg
mutate family of small_vgg {
  repeat stage[1].conv2d as convs: 1, 2
  swap   relu            as act: relu, gelu
}
design d of family(depth: 11, width: 4) {
  factor convs
  factor act
  input image: [2, 3, 32, 32]
  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
}
)";
  for (std::uint32_t convs = 0; convs < 2; ++convs) {
    for (std::uint32_t act = 0; act < 2; ++act) {
      Built copied(program), each(program, {.recordCalls = true});
      const auto found = copied.row({convs, act}), expected = each.row({convs, act});
      ASSERT_TRUE(found && expected) << copied.errors();
      EXPECT_EQ(everything(found->graph()), everything(expected->graph()));
    }
  }
}

TEST(Replay, EachCopyDrawsNumbersOfItsOwn) {
  const std::string program = R"(block noisy(x: tensor[n, c]) -> tensor[n, c] { return dropout(x, p: 0.5) }
network net(x: tensor[n, c]) -> tensor[n, c] { return x |> noisy |> noisy |> noisy |> noisy }
design d of net { input x: [2, 3]
  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1)) }
)";
  Built built(program);
  const auto row = compared(built, program);
  ASSERT_TRUE(row);
  std::set<std::uint64_t> streams;
  for (const graph::Op& op : row->graph().ops) {
    for (const graph::ElemNode& node : op.elementwise.nodes) {
      if (node.op == graph::ElemOp::Random && op.phase == graph::Phase::Forward) streams.insert(node.stream);
    }
  }
  EXPECT_EQ(streams.size(), 4U);
}

/// What is wrong with a later row is told of the copy's own call, as without copies.
TEST(Replay, ConditionsOfCopiesNameTheirOwnCalls) {
  const std::string program = R"(block even(x: tensor[n, w]) -> tensor[n, w]
  pre w mod 2 = 0
{ return relu(x) }
network net(x: tensor[n, w]; cut: int) -> tensor[n, w] {
  let y = even(x)
  let z = even(y)
  return even(slice(z, start: [0, 0], size: [n, w - cut], stride: [1, 1])) |> pad_back(cut: cut)
}
block pad_back(x: tensor[n, v]; cut: int) -> tensor[n, v + cut] { return concat([x, zeros([n, cut])], axis: 1) }
design d of net { factor cut: 2, 4, 3
  input x: [2, 8] }
)";
  Built copied(program), each(program, {.recordCalls = true});
  ASSERT_TRUE(copied.row({0})) << copied.errors();
  ASSERT_TRUE(each.row({0}));
  EXPECT_FALSE(copied.row({2}));
  EXPECT_FALSE(each.row({2}));
  EXPECT_EQ(copied.errors(), each.errors());
  EXPECT_NE(copied.errors().find("return even(slice"), std::string::npos) << copied.errors();
}

/// A copy does not hide that a declaration ends in itself.
TEST(Replay, RecursionIsFound) {
  const std::string program = R"(block outer(x: tensor[n]; deep: bool) -> tensor[n] {
  if deep { return inner(x) }
  return relu(x)
}
block inner(x: tensor[n]) -> tensor[n] { return outer(x, deep: false) }
network net(x: tensor[n]) -> tensor[n] { return inner(relu(x)) + outer(relu(x), deep: true) }
design d of net { input x: [4] }
)";
  Built copied(program), each(program, {.recordCalls = true});
  EXPECT_FALSE(copied.row());
  EXPECT_FALSE(each.row());
  EXPECT_EQ(copied.errors(), each.errors());
  EXPECT_NE(copied.errors().find("outer -> inner -> outer"), std::string::npos) << copied.errors();
}

/// Reports are made once, by the first application, and an application that reported is elaborated each time.
TEST(Replay, MistakesAreToldAsWithoutCopies) {
  const std::string program = R"(block wrong(x: tensor[n, c]) -> tensor[n, c] { return x |> dense(c + 1) }
network net(x: tensor[n, c]) -> tensor[n, c] { return wrong(x) + wrong(x) }
design d of net { input x: [2, 3] }
)";
  Built copied(program), each(program, {.recordCalls = true});
  EXPECT_FALSE(copied.row());
  EXPECT_FALSE(each.row());
  EXPECT_EQ(copied.errors(), each.errors());
}

}  // namespace
}  // namespace tbem::test
