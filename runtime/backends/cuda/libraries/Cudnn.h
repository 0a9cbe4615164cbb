// cuDNN as this process uses it: one library, opened when it is first asked, one device. Any thread may ask.
//
// Where there is a card, it is that one; where there is none, a device that the process was told of, so that plans can be made on
// machines without a card.
#pragma once

#include "runtime/cudnn/Card.h"
#include "runtime/cudnn/Choice.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::cuda {

/// The device to ask about where there is no card: `properties` is the text of runtime/cudnn/Properties.h. "": none any more.
/// `answerer`: who is asked about it; empty: cuDNN.
void describeDevice(const std::string& properties, cudnn::Answerer answerer = {});
/// cuDNN is asked from then on, where it was this owner's.
void forgetAnswerer(const void* owner);

/// A problem, and whether its engine may round f32 to TF32. A step gives the same numbers each time.
struct Asked {
  cudnn::Problem problem;
  bool tf32 = false;
};

/// The engines that may be taken for a problem, best first, and where the list had none, those of cuDNN's fallback; at least one.
/// Kept, so a problem is asked about once. Errors, in words: there is nobody to ask, cuDNN refuses, it has no engine.
tl::expected<std::vector<cudnn::Engine>, std::string> enginesOf(const Asked& asked);
/// Those of cuDNN's fallback alone, which may have others; there may be none.
tl::expected<std::vector<cudnn::Engine>, std::string> fallbackEnginesOf(const Asked& asked);

/// A problem that is ready to run on the card. Those of one problem and engine share what cuDNN prepared, which takes it up to a
/// second, as long as there is one of them.
class PreparedPlan {
public:
  PreparedPlan(PreparedPlan&& other) noexcept : key(std::exchange(other.key, {})), plan(other.plan) {}
  PreparedPlan& operator=(PreparedPlan&&) = delete;
  ~PreparedPlan();

  /// Prepared with that engine, or where cuDNN cannot prepare it with the first of its others that needs no more workspace.
  /// Errors, in words.
  static tl::expected<PreparedPlan, std::string> prepare(const Asked& asked, const cudnn::Engine& engine);
  /// Puts it behind what the device was asked before; addresses as cudnn::Plan::run takes them. "" or why not.
  std::string run(std::span<void* const> tensors, void* workspace);

private:
  PreparedPlan(std::string key, cudnn::Plan& plan) : key(std::move(key)), plan(&plan) {}
  std::string key;    ///< problem and engine; "" where another one took it over
  cudnn::Plan* plan;  ///< what they share
};

/// "cuDNN 9.19.0"; "" where there is none.
std::string cudnnVersion();
/// The path of the library, where it could be opened; else "".
std::string cudnnPath();

}  // namespace tbem::cuda
