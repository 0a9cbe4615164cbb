// The text of the file that keeps a device's choices of algorithms (Algorithms.h): a line that names the format, a checksum of
// the rest, the device, and for each operator a line `KEY <tab> ALGORITHM <tab> SECONDS...`.
#pragma once

#include "compiler/lower/Choices.h"

#include <string>
#include <string_view>

namespace tbem::driver {

std::string choicesText(const std::string& device, const estimate::Choices& choices);

/// Format and checksum before what they stand for: the device's line and those of the operators.
std::string sealChoices(std::string_view body);

/// Adds the choices of a file's text. False where it is none, is damaged, or is of another device; then part of it may be there.
bool parseChoices(std::string_view text, const std::string& device, estimate::Choices& choices);

}  // namespace tbem::driver
