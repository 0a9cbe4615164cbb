// The card that work is for, and what it can: the one at hand, else one that is not here and for which steps are planned. Any
// thread may ask.
#pragma once

#include "runtime/cudnn/Properties.h"
#include "tbem/backend.h"

#include <optional>

namespace tbem::cuda {

/// The card that steps are planned for where there is none; nothing: for none any more.
void planForCard(std::optional<cudnn::DeviceProperties> card);
std::optional<cudnn::DeviceProperties> plannedCard();

/// 10 x major + minor; nothing where there is no card and none is planned for.
std::optional<int> capability();

constexpr int kTensorCores = 80;  ///< capability from which on bf16 and TF32 are multiplied

/// Whether products of f32 are to be rounded to TF32: the operator may, and the card, where one is known, has such products.
bool hasTf32(const tbem_op_desc& op);

}  // namespace tbem::cuda
