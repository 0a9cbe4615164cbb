// Networks with gates on a card against ref: batches of one, about which the card decides itself from the second run on, and
// batches whose images lie with their channels last, of which only some go on.
#include "test/prop/Loaded.h"
#include "test/prop/cuda/Card.h"

#include <map>
#include <random>
#include <utility>

namespace tbem::test {
namespace {

/// Half of random images take the arm, and some of them leave early.
std::string textOf(int batch, const std::string& more) {
  return "network net(x: tensor[n, c, h, w]) -> tensor[n, 5] {\n"
         "  let a = conv2d(x, out: 8, kernel: 3, pad: 1)\n"
         "  let s = global_avg_pool(a) |> dense(1) |> reshape([n])\n"
         "  let b = skip relu(conv2d(a, out: 8, kernel: 3, pad: 1)) when s <= 0 leaving a\n"
         "  let y = b |> max_pool2d(2) |> global_avg_pool |> dense(5)\n"
         "  exit y when y |> softmax(axis: 1) |> max(axis: 1) >= 0.3\n"
         "  return conv2d(b, out: 16, kernel: 3, pad: 1) |> relu |> global_avg_pool |> dense(5)\n"
         "}\n"
         "design d of net { input x: [" +
         std::to_string(batch) + ", 8, 6, 6]\n " + more + "\n}\n";
}

class Pair {
public:
  Pair(const std::string& text, const std::string& exactText, tbem_dtype dtype = TBEM_F32)
      : onCard(loaded(text, dtype, *tbem_backend_cuda(), {.keepOutputs = true})),
        exact(loaded(exactText, TBEM_F64, *tbem_backend_ref(), {.keepOutputs = true})) {}
  bool good() const { return onCard.instance != nullptr && exact.instance != nullptr; }

  /// One run of both on the same image: how far the results are from each other, relative to their size.
  double run(unsigned image) {
    for (const Loaded* l : {&exact, &onCard}) {
      const auto input = l->instance->findStorage("x");
      EXPECT_TRUE(input);
      runtime::HostTensor value = l->instance->readStorage(*input).value();
      std::vector<double> numbers(value.doubles().size());
      std::mt19937 random(image);
      std::normal_distribution<double> normal;
      for (double& number : numbers) number = static_cast<double>(static_cast<float>(normal(random)));
      runtime::fromDoubles(value.dtype, numbers, value.data.data());
      EXPECT_TRUE(l->instance->writeStorage(*input, value));
      const auto ran = l->instance->run(1);
      EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
    }
    ++paths[pathOf(exact)];
    EXPECT_EQ(pathOf(onCard), pathOf(exact)) << "image " << image;
    return distance(resultsOf(onCard), resultsOf(exact));
  }

  std::map<std::vector<double>, int> paths;  ///< how many samples each branch had, and how often

private:
  static std::vector<double> resultsOf(const Loaded& l) {
    return l.instance->read(l.instance->executable().outputs.front())->doubles();
  }
  static std::vector<double> pathOf(const Loaded& l) {
    std::vector<double> path;
    for (const runtime::BranchDesc& branch : l.instance->executable().branches) {
      if (branch.rows != runtime::kNone) path.push_back(l.instance->read(branch.rows)->doubles().front());
    }
    return path;
  }

  Loaded onCard, exact;
};

TEST_F(OnCard, GatesOfOneSampleAreDecidedAnewInEachReplay) {
  Pair pair(textOf(1, ""), textOf(1, ""));
  ASSERT_TRUE(pair.good());
  for (unsigned image = 0; image < 24; ++image) EXPECT_LE(pair.run(image), 1e-5) << "image " << image;
  EXPECT_GE(pair.paths.size(), 3U) << "images take few paths";
}

/// Rows of values whose dimensions a permute has exchanged, in front of a gate and behind it.
TEST_F(OnCard, GatesGatherRowsOfPermutedValues) {
  const auto text = [](const std::string& shape, const std::string& order, int batch) {
    return "network net(x: tensor[n, " + shape +
           "]) -> tensor[n, 3] {\n"
           "  let s = x |> reshape([n, 24]) |> dense(1) |> reshape([n])\n"
           "  let u = x |> relu |> permute(order: " +
           order +
           ")\n"
           "  let b = skip relu(u * 2) when s <= 0 leaving u\n"
           "  let y = b |> reshape([n, 24]) |> dense(3)\n"
           "  exit y when y |> softmax(axis: 1) |> max(axis: 1) >= 0.4\n"
           "  return b + u |> permute(order: " +
           order +
           ") |> reshape([n, 24]) |> dense(3)\n"
           "}\n"
           "design d of net { input x: [" +
           std::to_string(batch) + ", " + shape + "] }\n";
  };
  for (const int batch : {1, 5}) {
    for (const auto& [shape, order] :
         {std::pair("4, 6", "[0, 2, 1]"), std::pair("2, 3, 4", "[0, 1, 3, 2]"), std::pair("2, 3, 4", "[0, 3, 2, 1]")}) {
      SCOPED_TRACE(text(shape, order, batch));
      Pair pair(text(shape, order, batch), text(shape, order, batch));
      ASSERT_TRUE(pair.good());
      for (unsigned image = 0; image < 12; ++image) EXPECT_LE(pair.run(image), 1e-5) << "image " << image;
      EXPECT_GE(pair.paths.size(), 2U) << "images take few paths";
    }
  }
}

TEST_F(OnCard, GatesOfBatchesWhoseChannelsAreLast) {
  for (const tbem_dtype dtype : {TBEM_F32, TBEM_BF16, TBEM_F16}) {
    SCOPED_TRACE(runtime::dtypeName(dtype));
    Pair pair(textOf(6, dtype == TBEM_F32 ? "math tf32" : ""), textOf(6, ""), dtype);
    ASSERT_TRUE(pair.good());
    for (unsigned image = 0; image < 4; ++image) EXPECT_LE(pair.run(image), dtype == TBEM_BF16 ? 3e-2 : 4e-3);
    EXPECT_GE(pair.paths.size(), 3U);
  }
}

}  // namespace
}  // namespace tbem::test
