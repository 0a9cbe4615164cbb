// Memory over a step, as a plot: what `estimate --out DIR` writes of the row that takes most.
#pragma once

#include "compiler/pytorch/eager/EagerStep.h"
#include "compiler/run/State.h"
#include "compiler/show/Out.h"
#include "runtime/report/Timeline.h"

namespace tbem::driver {

/// The arena of a lowered row, a moment a step of the schedule.
report::Timeline timelineOf(const RowState& row, const SourceManager& sources);
/// Live tensors of eager PyTorch's second step (of inference the only one), a moment an operator: the highest while it works.
report::Timeline timelineOf(const RowState& row, const estimate::EagerStep& step, const SourceManager& sources);

/// DIR/DESIGN-memory.svg, where --out names a folder. False after saying why it cannot be written.
bool writeTimeline(show::Out& out, const std::string& folder, const RowState& row, const report::Timeline& timeline);

}  // namespace tbem::driver
