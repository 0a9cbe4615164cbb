// Whether what is printed is as described.
#pragma once

#include "compiler/emit/OrderedJson.h"

#include <string>
#include <string_view>

namespace tbem::show {

/// What is wrong with an object that has a kind: "`measure`: `latency.p05` is not a number"; "" for nothing. Fields must stand in
/// their order.
std::string jsonFault(const Json& object);

/// A bug (TBEM_BUG) where a line that has a kind is not as described. Lines without one (SARIF, what a worker tells its parent)
/// are not described. In builds without TBEM_CHECK_JSON it does nothing.
void checkPrinted(std::string_view line);

}  // namespace tbem::show
