#include "runtime/backends/cuda/libraries/TargetCard.h"

#include "runtime/backends/cuda/device/Device.h"

#include <mutex>
#include <utility>

namespace tbem::cuda {

namespace {

struct Planned {
  std::mutex mutex;
  std::optional<cudnn::DeviceProperties> properties;
};

Planned& planned() {
  static Planned card;
  return card;
}

}  // namespace

void planForCard(std::optional<cudnn::DeviceProperties> card) {
  const std::lock_guard lock(planned().mutex);
  planned().properties = std::move(card);
}

std::optional<cudnn::DeviceProperties> plannedCard() {
  const std::lock_guard lock(planned().mutex);
  return planned().properties;
}

std::optional<int> capability() {
  if (const auto device = openDevice()) return 10 * (*device)->major + (*device)->minor;
  const auto card = plannedCard();
  return card ? std::optional(static_cast<int>(card->capability / 10)) : std::nullopt;
}

bool hasTf32(const tbem_op_desc& op) {
  return op.tf32 != 0 && op.operands[0].dtype == TBEM_F32 && capability().value_or(kTensorCores) >= kTensorCores;
}

}  // namespace tbem::cuda
