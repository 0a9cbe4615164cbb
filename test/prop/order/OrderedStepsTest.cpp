// A training step whose operators run in another order, so that its arena is lower, gives the same bits: losses, weights, states
// and statistics after three steps.
#include "test/prop/Loaded.h"

#include "runtime/include/tbem/backend.h"

#include <algorithm>

namespace tbem::test {
namespace {

std::string training(const std::string& body, const std::string& input) {
  return "network net(x: tensor[n, c, h, w]) -> tensor[n, 5] {\n " + body + "\n}\ndesign d of net {\n input x: " + input +
         "\n task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))\n}\n";
}

/// Of networks whose branches may run one after the other in any order.
const std::string kPrograms[] = {
    training("let y = conv2d(x, out: 8, kernel: 3, pad: 1)\n"
             " let a = y |> conv2d(out: 24, kernel: 3, pad: 1) |> batch_norm |> relu |> conv2d(out: 4, kernel: 1)\n"
             " let b = y |> conv2d(out: 32, kernel: 1) |> relu |> conv2d(out: 4, kernel: 3, pad: 1)\n"
             " let c = y |> max_pool2d(kernel: 2) |> conv2d(out: 6, kernel: 1) |> upsample2d(size: 12)\n"
             " return concat([a, b, c], axis: 1) |> relu |> global_avg_pool |> dense(5)",
             "[2, 3, 12, 12]"),
    training(
        "let y = conv2d(x, out: 16, kernel: 3, pad: 1)\n"
        " let parts = split(y, sizes: [8, 8], axis: 1)\n"
        " let a = parts[0] |> conv2d(out: 32, kernel: 1) |> batch_norm |> relu |> conv2d(out: 8, kernel: 3, pad: 1)\n"
        " let b = parts[1] |> conv2d(out: 48, kernel: 1) |> relu |> conv2d(out: 8, kernel: 1) |> dropout(p: 0.2)\n"
        " return concat([a, b, y], axis: 1) |> channel_shuffle(groups: 2) |> conv2d(out: 8, kernel: 3) |> global_avg_pool |> "
        "dense(5)",
        "[3, 3, 10, 10]"),
};

/// What outlives the step, and the loss, after `steps` steps.
std::vector<std::vector<double>> after(const Loaded& l, std::uint64_t steps) {
  for (std::uint64_t step = 1; step <= steps; ++step) EXPECT_TRUE(l.instance->run(step));
  const auto arena = l.instance->measureArena();
  EXPECT_TRUE(arena && arena->guardIntact && arena->stray == runtime::kAbsent);
  std::vector<std::vector<double>> values;
  for (const std::uint32_t output : l.instance->executable().outputs) values.push_back(l.instance->read(output)->doubles());
  const std::vector<runtime::StorageDesc>& storages = l.instance->executable().storages;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    if (storages[s].kind != runtime::BufferClass::Gradient) values.push_back(l.instance->readStorage(s)->doubles());
  }
  return values;
}

TEST(OrderedSteps, GiveTheSameBitsInALowerArena) {
  for (const tbem_backend* backend : {tbem_backend_ref(), tbem_backend_cpu()}) {
    for (const std::string& text : kPrograms) {
      SCOPED_TRACE(std::string(backend->name) + "\n" + text);
      const Loaded better = loaded(text, TBEM_F32, *backend, {.threads = 2, .keepOutputs = true});
      const Loaded written = loaded(text, TBEM_F32, *backend, {.threads = 2, .keepOutputs = true, .searchOrder = false});
      ASSERT_TRUE(better.instance && written.instance);
      EXPECT_LT(better.program->arena, written.program->arena);
      EXPECT_EQ(better.program->arenaAsWritten, written.program->arena);
      EXPECT_TRUE(after(better, 3) == after(written, 3));
    }
  }
}

/// Of all steps of a kind the places in the program, by what their names begin with.
std::vector<std::size_t> placesOf(const estimate::Program& program, const std::string& name) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].name.starts_with(name)) places.push_back(i);
  }
  return places;
}

/// `ref` as if its memory were a device's.
tbem_backend onDevice() {
  static constexpr tbem_device_table kTable{.target = "nvptx64"};
  tbem_backend device = *tbem_backend_ref();
  device.device = &kTable;
  return device;
}

estimate::Program lowered(const std::string& text, const tbem_backend& backend, const estimate::LowerOptions& options) {
  Built built(text);
  const auto row = built.row();
  EXPECT_TRUE(row) << built.errors();
  return estimate::lower(row->graph(), row->values, backend, options).value();
}

/// Weights of up to 16 Ki elements and running statistics are updated behind everything.
TEST(OrderedSteps, OnADeviceSmallUpdatesComeLast) {
  const std::string text = training(
      "return x |> conv2d(out: 8, kernel: 3) |> batch_norm |> relu |> conv2d(out: 256, kernel: 3) |> global_avg_pool |> dense(5)",
      "[2, 3, 12, 12]");  // weights of 216, 18 432 and 1 280 elements, and smaller ones
  const estimate::Program host = lowered(text, *tbem_backend_ref(), {.searchOrder = false});
  const estimate::Program device = lowered(text, onDevice(), {.searchOrder = false});
  const std::size_t lastGradient = placesOf(device, "conv2d_weight_gradient").back();
  const std::vector<std::size_t> updates = placesOf(device, "sgd"), statistics = placesOf(device, "move_towards");
  ASSERT_GE(updates.size(), 2U);
  ASSERT_EQ(statistics.size(), 2U);
  EXPECT_LT(updates.front(), lastGradient) << "the large weight's, whose gradient dies at once";
  EXPECT_GT(updates[1], lastGradient);
  EXPECT_GT(statistics.front(), lastGradient);
  EXPECT_LT(placesOf(host, "move_towards").front(), placesOf(host, "conv2d_weight_gradient").front());
  // Equal loops are one launch on a device, which they are no more when some become one loop: two statistics, three weights of 8.
  EXPECT_EQ(device.steps.size(), host.steps.size() + 3);
}

/// How many gradients of images stand behind that of the weight that is made of the same gradient.
int behindWeights(const estimate::Program& program) {
  const auto callAt = [&](std::size_t place) -> const estimate::NativeCall& { return program.calls[program.steps[place].index]; };
  int behind = 0;
  for (const std::size_t image : placesOf(program, "conv2d_input_gradient")) {
    for (const std::size_t weight : placesOf(program, "conv2d_weight_gradient"))
      behind += weight < image && callAt(weight).operands[1] == callAt(image).operands[0] ? 1 : 0;
  }
  return behind;
}

/// What follows the gradient of an image then stands behind it, and the sums of a normalisation lie nowhere where that still
/// reads.
TEST(OrderedSteps, OnADeviceGradientsOfWeightsComeBeforeThoseOfImages) {
  const std::string text =
      "import std.vision: resnet\ndesign d of resnet(depth: 18, classes: 10) {\n  input image: [8, 3, 64, 64]\n"
      "  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}\n";
  const estimate::Program device = lowered(text, onDevice(), {}), host = lowered(text, *tbem_backend_ref(), {});
  EXPECT_GT(behindWeights(device), 6) << "where memory allows it";
  EXPECT_LT(behindWeights(host), 3);
  EXPECT_LE(device.arena, device.arenaAsWritten);
  const std::vector<std::size_t> sums = placesOf(device, "channel_gradient_sums");
  ASSERT_EQ(sums.size(), 20U);
  for (const std::size_t place : sums) {
    const estimate::NativeCall& call = device.calls[device.steps[place].index];
    for (std::size_t i = call.inputs; i < call.operands.size(); ++i)
      EXPECT_LE(device.allocations[device[call.operands[i]].allocation].first, place - 2);
  }
}

TEST(OrderedSteps, OnADeviceGradientsOfDenseWeightsComeBeforeThoseOfTheirInputs) {
  const std::string text =
      training("return x |> conv2d(out: 8, kernel: 3) |> relu |> global_avg_pool |> dense(5)", "[2, 3, 12, 12]");
  const auto isFirst = [&](const tbem_backend& backend) {
    const estimate::Program program = lowered(text, backend, {});
    return placesOf(program, "dense_weight_gradient").front() < placesOf(program, "dense_input_gradient").front();
  };
  EXPECT_TRUE(isFirst(onDevice()));
  EXPECT_FALSE(isFirst(*tbem_backend_ref()));
}

/// Weights of 18 432 elements, updated behind everything where their gradients find memory that was needed earlier.
TEST(OrderedSteps, OnADeviceLargeUpdatesWaitWhereMemoryAllows) {
  const auto early = [](const std::string& image, const std::string& input) {
    const std::string body = "return x |> conv2d(out: 256, kernel: 3) |> relu |> conv2d(out: 8, kernel: 3) |> relu" + image +
                             " |> conv2d(out: 256, kernel: 3) |> global_avg_pool |> dense(5)";
    const estimate::Program program = lowered(training(body, input), onDevice(), {});
    EXPECT_LE(program.arena, program.arenaAsWritten);
    const std::size_t lastGradient = placesOf(program, "conv2d_weight_gradient").back();
    const std::vector<std::size_t> updates = placesOf(program, "sgd");
    return std::count_if(updates.begin(), updates.end(), [&](std::size_t update) { return update < lastGradient; });
  };
  EXPECT_EQ(early(" |> upsample2d(size: 12)", "[8, 8, 7, 7]"), 0) << "the last image is the largest";
  EXPECT_EQ(early("", "[64, 8, 7, 7]"), 2) << "the first one is, and the gradients of the other weights stand beside its own";
}

}  // namespace
}  // namespace tbem::test
