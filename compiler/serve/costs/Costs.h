// What a program's designs take, before anything runs: of the first row of each design and each training what `tbemc estimate`
// says of it, and where in the text that is.
#pragma once

#include "compiler/sema/Modules.h"
#include "compiler/serve/costs/CallCosts.h"
#include "compiler/support/Events.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::serve {

/// Operators of a row up to which its memory is planned as it runs; of larger ones it is counted from shapes alone.
constexpr std::size_t kMostPlanned = 20'000;
/// Seconds after which rows are left as they are. Looked at between rows and while another order of operators is searched.
constexpr double kLongest = 10;

/// Where memory is highest.
struct PeakPlace {
  std::string name;            ///< "conv2d", "batch_norm+relu"
  std::string scope;           ///< path of the block instance that it stands in; "" for the network
  std::optional<Piece> place;  ///< nothing: it has no place in the program's own text
};

/// A design or a training, and its first row.
struct DesignCosts {
  std::string name;
  Piece place;           ///< the name where it is declared
  std::size_t rows = 0;  ///< of the design
  bool training = false;
  std::string levels;                     ///< "batch=4 depth=11"; "" without factors
  std::int64_t parameters = 0;            ///< learned numbers
  estimate::Count forward = 0, step = 0;  ///< FLOPs
  std::uint64_t memory = 0;               ///< bytes at the peak: of the planned arena, or from shapes alone
  std::string backend;                    ///< that it is planned for; "": from shapes alone
  std::uint32_t unknownWorkspaces = 0;    ///< calls of own code without whose workspaces `memory` is
  PeakPlace peak;
  std::vector<CallCosts> calls;
};

struct Costs {
  std::vector<DesignCosts> designs;  ///< in order of the text; those without a network, or without a row, are left out
};

/// Of the program with this text of the file `path`. Nothing in it where the program has mistakes. It reads and elaborates the
/// program anew, so it can be called in a thread of its own. `events` is told of stages and progress, and may end it by an
/// exception.
Costs costsOf(const std::string& path, std::string text, const sema::LoadOptions& load, Events& events);

}  // namespace tbem::serve
