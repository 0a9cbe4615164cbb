// Points as the store has them. Internal to this folder.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::perturb {

/// JSON of everything but the example's number; doubles come back bit for bit.
std::string textOf(const Point& point);
/// Errors: what is wrong with the text.
tl::expected<Point, std::string> pointOf(std::int64_t example, const std::string& text);

}  // namespace tbem::perturb
