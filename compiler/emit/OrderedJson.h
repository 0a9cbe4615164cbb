// The JSON that every part of the compiler writes.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tbem {

/// JSON objects whose fields stay in the order in which they are written.
using Json = nlohmann::ordered_json;

}  // namespace tbem
