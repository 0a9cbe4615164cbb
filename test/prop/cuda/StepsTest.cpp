// Training steps and inference on a card, in f32, against `ref` in f64: three steps, of which the third is replayed from the
// recording of the second. And the memory that was planned is the memory that was touched.
#include "test/prop/Loaded.h"
#include "test/prop/cuda/Card.h"

#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>

namespace tbem::test {
namespace {

struct Net {
  const char* name;
  const char* imports;
  const char* model;
  const char* inputs;
  const char* task;  ///< "": inference
  /// Rounding may turn the sign of what a ReLU or a maximum looks at: gradients then differ by a share of an element's, not of
  /// its last place.
  bool kinked = true;
};

constexpr const char* kSgd = "task train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))";
constexpr const char* kAdam = "task train(loss: cross_entropy, optimizer: adam(lr: 0.001))";
constexpr const char* kImages = "input image: [2, 3, 64, 64]";
constexpr const char* kSmall = "input image: [4, 3, 32, 32]";
constexpr const char* kTokens = "input tokens: [2, 20]";

const Net kNets[] = {
    {"lenet5", "import std.vision: lenet5", "lenet5", "input image: [4, 1, 28, 28]", kAdam},
    {"cifar", "import std.vision: cifar_resnet", "cifar_resnet(depth: 20)", "input image: [4, 3, 12, 12]", kSgd},
    {"resnet", "import std.vision: resnet", "resnet(depth: 18, classes: 10)", kImages, kSgd},
    {"resnext", "import std.vision: resnext", "resnext(groups: 8, group_width: 2, classes: 10)", kImages, kSgd},
    {"mobilenet_v2", "import std.vision: mobilenet_v2", "mobilenet_v2(width: 0.25, classes: 10)", kImages, kSgd},
    {"efficientnet", "import std.vision: efficientnet", "efficientnet(width: 0.25, classes: 10)", kImages, kSgd, false},
    {"densenet", "import std.vision: densenet", "densenet(growth: 8, classes: 10)", kImages, kSgd},
    {"squeezenet", "import std.vision: squeezenet", "squeezenet(classes: 10)", kImages, kSgd},
    {"googlenet", "import std.vision: googlenet", "googlenet(classes: 10)", kImages, kSgd},
    {"shufflenet_v2", "import std.vision: shufflenet_v2", "shufflenet_v2(width: 0.5, classes: 10)", kImages, kSgd},
    {"convnext", "import std.vision: convnext", "convnext(width: 16, units: [1, 1, 2, 1], classes: 10)", kImages, kAdam, false},
    {"vit", "import std.vision: vit", "vit(layers: 2, width: 32, heads: 4, classes: 10)", kSmall, kAdam, false},
    {"swin", "import std.vision: swin", "swin(width: 16, units: [1, 2, 2], head_width: 8, window: 5, classes: 10)", kImages,
     kAdam, false},
    {"unet", "import std.vision: unet", "unet(classes: 3, width: 4)", kImages, kSgd},
    {"gpt2", "import std.text: gpt2", "gpt2(vocab: 101, context: 32, layers: 2, width: 32, heads: 4)", kTokens,
     "task train(loss: cross_entropy, optimizer: adamw(lr: 0.001, clip_norm: 1))", false},
    {"llama", "import std.text: llama", "llama(vocab: 101, layers: 2, width: 32, heads: 4, groups: 2, hidden: 64)", kTokens,
     kAdam, false},
    {"skipnet", "import std.adaptive: skipnet", "skipnet(n: 1, tau: 0)", kSmall, ""},
    {"sdn_resnet56", "import std.adaptive: sdn_resnet56", "sdn_resnet56(tau: 0.11)", kSmall, ""},
    {"act_resnet", "import std.adaptive: act_resnet", "act_resnet(n: 1)", kSmall, ""},
    {"accumulated", "import std.vision: cifar_resnet", "cifar_resnet(depth: 20)", "input image: [8, 3, 12, 12]",
     "task train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))\n accumulate 4"},
    // Micro-batches of 2904 bytes: cuDNN takes none but multiples of 16.
    {"accumulated_odd", "import std.vision: cifar_resnet", "cifar_resnet(depth: 20)", "input image: [6, 3, 11, 11]",
     "task train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))\n accumulate 3"},
};

std::string textOf(const Net& net) {
  return std::string(net.imports) + "\ndesign d of " + net.model + " {\n " + net.inputs + "\n " + net.task + "\n}\n";
}

/// Of the loss of a step in f16 (compiler/graph/differentiate/LossScale.h).
bool isOfScale(const std::string& path) {
  return path.ends_with(".loss_scale") || path.ends_with(".good_steps") || path.ends_with(".taken_steps");
}

/// Scales the loss by so much from the first step on, where it is scaled.
void setLossScale(const Loaded& l, float scale) {
  const auto& storages = l.instance->executable().storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (!storages[s].path.ends_with(".loss_scale")) continue;
    runtime::HostTensor value = l.instance->readStorage(s).value();
    std::memcpy(value.data.data(), &scale, sizeof scale);
    ASSERT_TRUE(l.instance->writeStorage(s, value));
  }
}

/// What a run leaves, by kind: results, weights, states, statistics, each as one vector. (Single gradients may be sums that
/// cancel: that of a bias in front of a normalisation is rounding alone.)
std::map<std::string, std::vector<double>> leftBy(const Loaded& l) {
  std::map<std::string, std::vector<double>> values;
  const auto add = [&](const std::string& kind, const std::vector<double>& more) {
    values[kind].insert(values[kind].end(), more.begin(), more.end());
  };
  const runtime::Executable& executable = l.instance->executable();
  for (const std::uint32_t output : executable.outputs) add("results", l.instance->read(output)->doubles());
  for (std::uint32_t s = 0; s < executable.storages.size(); ++s) {
    const runtime::BufferClass kind = executable.storages[s].kind;
    if (kind == runtime::BufferClass::Gradient || kind == runtime::BufferClass::Input) continue;
    const bool ofScale = isOfScale(executable.storages[s].path);
    add(ofScale ? "scale" : "kind " + std::to_string(static_cast<int>(kind)), l.instance->readStorage(s)->doubles());
  }
  return values;
}

/// Takes more than half a minute where the card is interpreted.
bool takesLong(const std::string& name) { return name == "resnet" || name == "resnext" || name == "googlenet"; }

/// What was planned is what was touched, but for a branch without samples, which touches nothing.
void touchesItsPlan(const Loaded& loaded) {
  const auto arena = loaded.instance->measureArena();
  ASSERT_TRUE(arena);
  EXPECT_TRUE(arena->guardIntact);
  EXPECT_EQ(arena->stray, runtime::kAbsent);
  EXPECT_LE(arena->reached, arena->planned);
  if (loaded.program->branches.empty()) {
    EXPECT_EQ(arena->reached, arena->planned);
  }
}

class CudaSteps : public OnCard, public testing::WithParamInterface<Net> {};

/// f32 on the processor says how far f32 may be from f64: errors of a step grow with the network and from step to step.
TEST_P(CudaSteps, AreAsNearToRefAsThoseOfTheProcessor) {
  if (interpreted_ && takesLong(GetParam().name)) GTEST_SKIP() << "takes too long where the card is interpreted";
  const tbem_backend& cuda = *tbem_backend_cuda();
  const std::string text = textOf(GetParam());
  const Loaded onCard = loaded(text, TBEM_F32, cuda, {.keepOutputs = true});
  const Loaded onProcessor = loaded(text, TBEM_F32, *tbem_backend_cpu(), {.threads = 2, .keepOutputs = true});
  const Loaded reference = loaded(text, TBEM_F64, *tbem_backend_ref(), {.keepOutputs = true});
  ASSERT_TRUE(onCard.instance && onProcessor.instance && reference.instance);
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const auto ran = onCard.instance->run(step);
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_TRUE(onProcessor.instance->run(step) && reference.instance->run(step));
    auto found = leftBy(onCard), processor = leftBy(onProcessor), expected = leftBy(reference);
    for (const auto& [kind, values] : expected) {
      const double far = relative(found[kind], values), may = relative(processor[kind], values);
      const bool beforeKinks = step == 1 && kind == "results";
      const double bound = !GetParam().kinked || beforeKinks ? 4 * may + 2e-6 : 4 * may + 5e-2;
      if (!GetParam().kinked || step == 1) {
        EXPECT_LE(far, bound) << kind << " after step " << step;
      }
      RecordProperty(kind + " " + std::to_string(step), fmt::format("{:.2e}, the processor's {:.2e}", far, may));
    }
  }
  touchesItsPlan(onCard);
}

/// In mixed precision the processor's backend may lack instructions; `ref` says how far its steps are from f64.
class CudaMixedSteps : public OnCard, public testing::WithParamInterface<Net> {};

/// Steps in the precision of the clause and the type on the card and on `ref`, beside those in f64.
void trainAsNearAsRef(const Net& net, const std::string& clause, double bound, tbem_dtype dtype = TBEM_F32,
                      std::uint64_t steps = 3) {
  const std::string text = textOf(net), mixed = text.substr(0, text.rfind('}')) + " " + clause + "\n}\n";
  const Loaded onCard = loaded(mixed, dtype, *tbem_backend_cuda(), {.keepOutputs = true});
  const Loaded onRef = loaded(mixed, dtype, *tbem_backend_ref(), {.keepOutputs = true});
  const Loaded exact = loaded(text, TBEM_F64, *tbem_backend_ref(), {.keepOutputs = true});
  ASSERT_TRUE(onCard.instance && onRef.instance && exact.instance);
  // So that nothing overflows: cuDNN rounds gradients of convolutions' weights to f16, which `ref` does not, and the usual first
  // scale is too large for some of them.
  for (const Loaded* narrow : {&onCard, &onRef}) setLossScale(*narrow, 256);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const auto ran = onCard.instance->run(step);
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_TRUE(onRef.instance->run(step) && exact.instance->run(step));
    auto found = leftBy(onCard), ref = leftBy(onRef), expected = leftBy(exact);
    for (const auto& [kind, values] : expected) {
      const double far = relative(found[kind], values), may = relative(ref[kind], values);
      EXPECT_LE(far, 2 * may + bound) << kind << " after step " << step;
      if (step == 1 && kind == "results") {
        EXPECT_GT(far, 1e-5) << "as if it were computed in f32";
      }
      testing::Test::RecordProperty(kind + " " + std::to_string(step), fmt::format("{:.2e}, ref's {:.2e}", far, may));
    }
    EXPECT_EQ(found["scale"], ref["scale"]) << "after step " << step;
    EXPECT_EQ(found["scale"].empty(), clause != "mixed f16");
  }
  touchesItsPlan(onCard);
}

TEST_P(CudaMixedSteps, AreAsNearAsThoseOfRef) { trainAsNearAsRef(GetParam(), "mixed bf16", 1e-3); }

TEST_P(CudaMixedSteps, InF16AreAsNearAsThoseOfRef) { trainAsNearAsRef(GetParam(), "mixed f16", 2e-4); }

TEST_P(CudaMixedSteps, WhollyInBf16AreAsNearAsThoseOfRef) { trainAsNearAsRef(GetParam(), "", 1e-3, TBEM_BF16); }

/// One: with updates in f16 and no scale of the loss, the next go their own way.
TEST_P(CudaMixedSteps, WhollyInF16AreAsNearAsThoseOfRef) { trainAsNearAsRef(GetParam(), "", 2e-4, TBEM_F16, 1); }

TEST_P(CudaMixedSteps, InferInF16AsNearAsRef) {
  Net net = GetParam();
  net.task = "mixed f16";
  const Loaded onCard = loaded(textOf(net), TBEM_F32, *tbem_backend_cuda(), {.keepOutputs = true});
  const Loaded onRef = loaded(textOf(net), TBEM_F32, *tbem_backend_ref(), {.keepOutputs = true});
  net.task = "";
  const Loaded exact = loaded(textOf(net), TBEM_F64, *tbem_backend_ref(), {.keepOutputs = true});
  ASSERT_TRUE(onCard.instance && onRef.instance && exact.instance);
  const auto ran = onCard.instance->run(1);
  ASSERT_TRUE(ran) << ran.error().message;
  ASSERT_TRUE(onRef.instance->run(1) && exact.instance->run(1));
  const std::vector<double> expected = leftBy(exact).at("results");
  const double far = relative(leftBy(onCard).at("results"), expected), may = relative(leftBy(onRef).at("results"), expected);
  EXPECT_LE(far, 2 * may + 1e-4);
  EXPECT_GT(far, 1e-5) << "as if it were computed in f32";
  EXPECT_LT(far, 2e-2) << "as if it were computed in bf16";
  RecordProperty("results", fmt::format("{:.2e}, ref's {:.2e}", far, may));
  touchesItsPlan(onCard);
}

/// Those that take longest where the card is interpreted, and those with gates, are left out.
std::vector<Net> mixedNets() {
  std::vector<Net> nets;
  for (const Net& net : kNets) {
    const std::string name = net.name;
    const bool takesAll = name == "lenet5" || name == "mobilenet_v2" || name == "efficientnet" || name == "vit" ||
                          name == "gpt2" || name == "unet" || name == "accumulated";
    if (takesAll) nets.push_back(net);
  }
  return nets;
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaMixedSteps, testing::ValuesIn(mixedNets()),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Networks, CudaSteps, testing::ValuesIn(kNets), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tbem::test
