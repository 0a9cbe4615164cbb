// Who says which engines a convolution has on a device that is not here: cuDNN itself, opened at run time, or what it said
// before, kept on disk.
//
// One file for each library (path, size, time of change), kind of libcuda and device: ~/.cache/tbemc/engines/HASH.txt. cuDNN is
// opened at the first question that the file does not answer.
#pragma once

#include "compiler/devices/Devices.h"
#include "compiler/devices/EnginesFile.h"
#include "compiler/estimate/Device.h"
#include "compiler/support/Events.h"
#include "runtime/cudnn/Properties.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// What cuDNN is told of a device. Errors: the first field that the device's record lacks.
tl::expected<cudnn::DeviceProperties, std::string> propertiesOf(const estimate::Device& device);

enum class Origin : std::uint8_t { Cudnn, Recorded, Model };

/// Engines, best first; none at all is an answer.
struct EngineList {
  std::vector<cudnn::Engine> engines;
  Origin origin = Origin::Cudnn;
};

class EngineSource {
public:
  /// `given`: where --cudnn says that the library is, a file of what one said elsewhere, "none" for none, or "". `pythonFirst`:
  /// of the places that are known, the Python environment's package comes first. Errors: `given` has no cuDNN, the device's
  /// record lacks a field. `asked` counts the lists that cuDNN is asked for, of all sources of a command, and outlives this, as
  /// `events` does: after kMostAsked the others are answered as without a library.
  static tl::expected<EngineSource, Failed> open(const std::string& given, bool pythonFirst, const estimate::Device& device,
                                                 std::size_t& asked, Events& events);
  /// About two minutes of processor time.
  static constexpr std::size_t kMostAsked = 20'000;
  ~EngineSource();
  EngineSource(EngineSource&&) noexcept;
  EngineSource& operator=(EngineSource&&) noexcept;

  /// Errors: cuDNN cannot be opened, or refuses the problem.
  tl::expected<EngineList, std::string> engines(const cudnn::Convolution& problem, cudnn::List list = cudnn::List::Heuristic);
  /// What a cuDNN says, however many lists it was asked for. Errors: there is none, it cannot be opened, it refuses the problem.
  tl::expected<std::vector<cudnn::Engine>, std::string> answer(const cudnn::Problem& problem, cudnn::List list);

  /// Whether a cuDNN answers: one that is here, or a file of what one said elsewhere.
  bool hasAnswers() const;
  /// "9.19.0"; known once a question was answered.
  const std::string& version() const;
  const std::string& path() const;
  /// Nothing where cuDNN answered elsewhere.
  std::optional<cudnn::Libcuda> libcuda() const;
  /// "cuDNN 9.19.0 (/usr/local/cuda/lib64/libcudnn.so.9), libcuda: the toolkit's stub (..)"; without a library, why, and what
  /// answers instead.
  std::string describe() const;
  /// Why the file of what it said before is not believed, or "" (CacheFile.h).
  const std::string& refused() const;
  /// How many answers came from the library, not from the file.
  std::size_t askedAnew() const;
  /// How many were not asked, because of the limit.
  std::size_t leftOut() const;
  /// Adds what was asked anew to the file. "" or why not.
  std::string keep();

private:
  struct Impl;
  explicit EngineSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::driver
