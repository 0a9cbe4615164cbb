// What the environment could not do.
#pragma once

#include "tbem/backend.h"

#include <string>

namespace tbem::runtime {

/// A failure of the environment: the backend's status and a message with name, number and way out.
struct Failure {
  tbem_status status = TBEM_FAILED;
  std::string message;
};

/// What the backend said of the last call that failed; "" if nothing.
std::string lastError(const tbem_backend& backend);
/// `what`, with the backend's words behind it.
Failure failureOf(const tbem_backend& backend, tbem_status status, std::string what);

}  // namespace tbem::runtime
