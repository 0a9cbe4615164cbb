// Of which numbers a network's weights are.
#pragma once

#include "runtime/train/Snapshot.h"

#include <string>

namespace tbem::driver {

/// Hash of the paths and of all numbers, in the snapshot's order.
std::string hashOf(const train::Snapshot& weights);

}  // namespace tbem::driver
