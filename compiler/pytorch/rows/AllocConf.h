// `--alloc-conf TEXT`: the options of PyTorch's allocator, as in PYTORCH_ALLOC_CONF.
#pragma once

#include "compiler/pytorch/allocator/AllocatorOptions.h"

#include <optional>
#include <string>

namespace tbem::driver {

/// The rules of the version that `--torch` names, the newest where it names none; nullptr after saying what is wrong.
const estimate::AllocatorVersion* readTorch(const std::string& version);
/// Nothing after saying what is wrong, and where in the text; `what` names where the text comes from.
std::optional<estimate::AllocatorOptions> readAllocConf(
    const std::string& what, const std::string& text,
    const estimate::AllocatorVersion& version = estimate::allocatorVersions().back());

}  // namespace tbem::driver
