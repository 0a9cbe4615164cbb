// Where the memory of a row goes at its peak, by kind, and where the peak is.
#pragma once

#include "compiler/estimate/Estimate.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

/// What the row takes: its arena where a device was asked, else its static memory.
std::uint64_t memoryOf(const estimate::Estimate& estimate);

/// Where memory of each kind goes, for the row that takes most.
void printKinds(show::Out& out, const Workspace& workspace, const estimate::Estimate& worst, const std::string& levels);
/// The same in one line: kinds of at least a hundredth, the largest first.
void sayKinds(show::Out& out, const estimate::Estimate& worst, const std::string& levels);
/// An operator at the peak, for people: a reorder, which is none of the program's, is told as what it does.
std::string peakWords(const std::string& name);
/// The operator at the peak and its place, and what the estimate does not know.
void printPeakPlace(show::Out& out, const Workspace& workspace, const estimate::Estimate& worst);

}  // namespace tbem::driver
