// A card's own code, made of PTX by nvJitLink of the CUDA toolkit, which is opened at run time (NVIDIA, "nvJitLink", the API of
// versions 12 and 13): so that no driver need make it each time, and none need be here.
#pragma once

#include <tl/expected.hpp>

#include <optional>
#include <string>

namespace tbem::jit {

/// The cubin for cards of this architecture, "sm_90". Nothing: there is no nvJitLink, or it does not know such cards or the PTX.
std::optional<std::string> machineCodeOf(const std::string& ptx, const std::string& architecture);

/// The library's file, its size and the time of its change, which the code depends on; "" where there is none.
const std::string& assemblerIdentity();
/// "nvJitLink 13.0". Errors, in words: there is none, or none can be opened.
tl::expected<std::string, std::string> assemblerVersion();

}  // namespace tbem::jit
