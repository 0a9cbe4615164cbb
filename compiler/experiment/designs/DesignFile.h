// `array "FILE.csv"`: an array of the program's own.
#pragma once

#include "compiler/experiment/designs/Designs.h"

namespace tbem::driver {

/// Whether the clause `array` names a file, and not an array such as "L16".
bool isArrayFile(const graph::DesignSpec& spec);

/// Reads the file, whose path is relative to the program's, into `run.array`, and counts its strength: that of the design. False
/// after saying why it is no such array: at a place of the file, or with the combination of levels that stands too often or too
/// seldom.
bool takeArrayFile(Workspace& workspace, DesignRun& run);

/// "`batch` = 4 beside `depth` = 11": the levels that stand too often or too seldom; "" where none are named.
std::string combinationText(const graph::DesignSpec& spec, const design::Imbalance& found);

}  // namespace tbem::driver
