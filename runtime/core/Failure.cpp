#include "runtime/core/Failure.h"

#include <fmt/format.h>

namespace tbem::runtime {

std::string lastError(const tbem_backend& backend) {
  const char* text = backend.last_error != nullptr ? backend.last_error() : nullptr;
  return text != nullptr ? text : "";
}

Failure failureOf(const tbem_backend& backend, tbem_status status, std::string what) {
  const std::string text = lastError(backend);
  return {status, text.empty() ? std::move(what) : fmt::format("{}: {}", what, text)};
}

}  // namespace tbem::runtime
