// Standard input as bytes that come when they come.
#pragma once

#include <optional>
#include <string>

namespace tbem::serve {

/// Bytes; "" at its end, or where it cannot be read; nothing where none came for a while (StreamChannel::Read).
std::optional<std::string> readStandardInput();

}  // namespace tbem::serve
