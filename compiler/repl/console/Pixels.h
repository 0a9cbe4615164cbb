// Whether the terminal shows pictures.
#pragma once

#include "runtime/report/TextPlot.h"

#include <optional>
#include <string_view>

namespace tbem::repl {

/// What a terminal's answers to `CSI 16 t` (a character's size in pixels) and `CSI c` (its device attributes, of which 4 are
/// sixel graphics) say: the size of a character where both are there and it shows sixel graphics.
std::optional<report::CellSize> sixelCells(std::string_view answers);

/// Asks the terminal at standard input and output, which has a third of a second. Nothing: it shows none, does not answer, or
/// something was typed ahead, which stays to be read.
std::optional<report::CellSize> askSixelCells();

/// Writes to standard output, past all that makes text harmless to a terminal. False: it could not be written.
bool writeToTerminal(std::string_view text);

}  // namespace tbem::repl
