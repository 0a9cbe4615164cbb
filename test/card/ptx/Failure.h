// What is wrong with a PTX text, and where.
#pragma once

#include <stdexcept>
#include <string>

namespace tbem::card {

/// Thrown while a text is read or decoded; does not leave `load` (code/Load.h).
struct PtxFailure : std::runtime_error {
  PtxFailure(unsigned atLine, const std::string& text) : std::runtime_error(text), line(atLine) {}
  unsigned line;  ///< from 1
};

}  // namespace tbem::card
