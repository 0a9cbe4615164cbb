// What a hint names of many.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem {

/// The first three, "`a`, `b`, `c` and 4 more"; "" of none.
std::string firstFew(std::span<const std::string> names);
/// The three that are spelled most like `word`, in this form.
std::string nearestFew(std::string_view word, std::vector<std::string> names);

}  // namespace tbem
