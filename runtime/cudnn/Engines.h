// Questions to cuDNN about a device that need not be there.
#pragma once

#include "runtime/cudnn/Library.h"
#include "runtime/cudnn/Problem.h"

#include <tl/expected.hpp>

#include <functional>
#include <memory>
#include <string>

namespace tbem::cudnn {

/// Which list of engines: that of cuDNN's heuristic (mode A; mode INSTANT, which eager PyTorch asks, gave the same first choice
/// for all of 8856 problems), or cuDNN's fallback, for where no engine of the heuristic's may be taken. The fallback takes 10 to
/// 20 ms.
enum class List : std::uint8_t { Heuristic, Fallback };

/// Part of what an answer depends on: to be raised where a problem is put to cuDNN in other words (Question.cpp, Attention.cpp),
/// as answers are kept between programs.
constexpr int kWording = 2;

/// Who answers questions about a device that is not here, where that is not the library alone: one that keeps what it said.
struct Answerer {
  const void* owner = nullptr;                                                                  ///< whoever withdraws it
  std::function<tl::expected<std::vector<Engine>, std::string>(const Problem&, List)> engines;  ///< as Device::engines
  std::function<std::string()> version;                                                         ///< "9.19.0"; "": not known yet
};

/// A device to ask about. One thread at a time.
class Device {
public:
  /// `properties`: the text of Properties.h. Errors: cuDNN refuses it, in its words.
  static tl::expected<Device, std::string> make(const Library& library, const std::string& properties);
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// The engines for a problem, in 1 to 5 ms; the first question of a process takes 0.2 s and more, for cuDNN loads itself then.
  /// No engine at all is an answer. No plan is built. Errors: cuDNN refuses the problem, in its words.
  tl::expected<std::vector<Engine>, std::string> engines(const Problem& problem, List list = List::Heuristic) const;

private:
  struct Impl;
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::cudnn
