// What raises memory over a step, as a table that the moments of its plot link to.
#pragma once

#include "runtime/report/Table.h"
#include "runtime/report/Timeline.h"

#include <string>
#include <vector>

namespace tbem::report {

struct Rises {
  Table table;                       ///< in order of time
  std::vector<std::string> anchors;  ///< by row
};
/// The moments that take more than the one before, the `most` largest of them from half a percent of the highest sum on; sets
/// their links. `prefix` keeps names of anchors apart from those of other timelines.
Rises risesOf(Timeline& timeline, const std::string& prefix, std::size_t most = 60);

}  // namespace tbem::report
