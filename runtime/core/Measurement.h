// A case of a campaign and what was measured of it: the values that measuring, the store and reports hand to one another.
// Plain data; sizes in bytes, times in seconds, energy in joules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::runtime {

/// One row of a design on one backend, once.
struct Case {
  std::string identity;  ///< hash of all that can change the result (cli.md); the same identity is the same experiment
  std::string design;
  std::uint32_t row = 0;      ///< number of the row in its design, from 0
  std::string levels = "{}";  ///< a JSON object, factors in order of declaration
  std::string backend;
  std::uint32_t repeat = 0;  ///< from 0
  double cost = 1;           ///< how long it takes relative to other cases (say, FLOPs); only for the time left
};

enum class Status : std::uint8_t { Ok, OutOfMemory, Failed, Timeout, Skipped };
/// "ok", "oom", "failed", "timeout", "skipped".
std::string_view name(Status status);
std::optional<Status> statusOf(std::string_view name);

/// The types of Measurement.def.
namespace measured {
using Text = std::string;
using Bytes = std::optional<std::uint64_t>;
using Seconds = std::optional<double>;
using Joules = std::optional<double>;
using Share = std::optional<double>;
using Number = std::optional<double>;
using Samples = std::vector<double>;
using Date = double;
using Limit = double;
}  // namespace measured

/// What else the machine did while the steps ran (measure/LoadMeter.h). Empty: the system does not say.
struct MachineLoad {
#define TBEM_MEASURED(type, member, column, since)
#define TBEM_MEASURED_LOAD(type, member, column, since) measured::type member{};
#include "runtime/core/Measurement.def"
};

/// What was seen: `status`, `load`, and a member for each row of Measurement.def. A field that no meter could fill is empty,
/// and the reason stands beside it.
struct Measurement {
  Status status = Status::Failed;
  MachineLoad load;
#define TBEM_MEASURED(type, member, column, since) measured::type member{};
#define TBEM_MEASURED_LOAD(type, member, column, since)
#include "runtime/core/Measurement.def"
};

/// Of a case that was not measured to its end: why.
Measurement notMeasured(Status status, std::string reason);

/// A row of Measurement.def.
struct MeasuredField {
  const char* column;
  int since;
};

/// `visit(MeasuredField, member)` for each row of Measurement.def, in order. `M`: Measurement, const or not.
template <class M, class Visit>
void forEachField(M& value, const Visit& visit) {
#define TBEM_MEASURED(type, member, column, since) visit(MeasuredField{column, since}, value.member);
#define TBEM_MEASURED_LOAD(type, member, column, since) visit(MeasuredField{column, since}, value.load.member);
#include "runtime/core/Measurement.def"
}

/// True where running the case again would tell nothing new: ok and oom are; a timeout is unless more time is allowed now;
/// failed and skipped rows are tried again by the next campaign. `timeLimit` of 0 is no limit.
bool settled(Status status, double limitThen, double limitNow);

}  // namespace tbem::runtime
