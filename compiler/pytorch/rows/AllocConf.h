// `--alloc-conf TEXT`: the options of PyTorch's allocator, as in PYTORCH_ALLOC_CONF.
#pragma once

#include "compiler/pytorch/allocator/AllocatorOptions.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// The rules of the version that `--torch` names, the newest where it names none; errors: kUsage.
tl::expected<const estimate::AllocatorVersion*, Failed> readTorch(const std::string& version);
/// `what` names where the text comes from. Errors: kUsage, what is wrong and where in the text.
tl::expected<estimate::AllocatorOptions, Failed> readAllocConf(
    const std::string& what, const std::string& text,
    const estimate::AllocatorVersion& version = estimate::allocatorVersions().back());

}  // namespace tbem::driver
