// Which factors and operators move parameters, FLOPs, memory and least time. Nothing is run.
#pragma once

#include "compiler/design/verify/Screening.h"
#include "compiler/estimate/Attribution.h"
#include "compiler/run/State.h"
#include "runtime/report/Svg.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace tbem::driver {

/// One response over the rows of one design.
struct Screened {
  const DesignRun* run = nullptr;
  std::string response;  ///< "static_memory"
  report::Quantity quantity{};
  design::Screening screening;
  std::size_t centre = 0;  ///< the row nearest the middle of all levels: into run->rows
  /// By operator: its share of the response.
  struct Operator {
    std::string name;
    double centre = 0;         ///< amount at the centre row
    double share = 0;          ///< there
    double low = 0, high = 0;  ///< shares over all rows
  };
  std::vector<Operator> operators;  ///< in falling order of the share at the centre
  bool workEnded = false;           ///< the limit of work was reached: not all rows were planned
  std::string noGrid;               ///< why not every combination of levels could be taken; "": they were, or were too many
};

/// What screening the designs of a state came to.
struct Screening {
  std::vector<std::vector<Screened>> designs;  ///< by design of a network, in order; one without two rows: empty
  std::vector<std::string> untimed;            ///< rows that have no least time, and why
  std::string leftOut;                         ///< leftOutText of the first row whose least time is not whole
};

struct ScreenRequest {
  std::string roofline;  ///< the device of least times; "": none
  std::string noGrid;    ///< as in Screened
};

/// Of a state that has passed `lower`. What is wrong with rows goes to the session. Errors: no such device.
tl::expected<Screening, Failed> screenDesigns(State& state, const ScreenRequest& request);

}  // namespace tbem::driver
