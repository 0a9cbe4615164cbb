// One problem for a backend, with logical row-major operands in f64, and a runner that puts it through query, create and run.
#pragma once

#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::test {

struct Array {
  std::vector<std::int64_t> dims;
  std::vector<double> values;  ///< empty: only the shape matters
  bool integer = false;        ///< i64 class numbers
};

struct Problem {
  tbem_primitive primitive{};
  std::vector<std::int64_t> attributes;
  std::vector<double> scalars;
  std::vector<std::optional<Array>> inputs;  ///< nothing: an absent operand
  std::vector<Array> outputs;                ///< shapes; values where an answer is known
  std::string text() const;
};

struct Settings {
  int dtype = TBEM_F64;
  int threads = 0;
  /// Chooses layouts before the query; left out: all are `any`.
  std::function<void(std::vector<tbem_operand>&)> layouts;
  std::int32_t algorithm = 0;
  bool tf32 = false;
  int replays = 0;  ///< of a device: the run is recorded and replayed so often, instead of being done at once
};

struct Outcome {
  tbem_status status = TBEM_OK;
  std::string error;
  std::string implementation;
  std::uint64_t workspace = 0;
  std::vector<std::vector<double>> outputs;  ///< logical row-major
  std::vector<std::string> bytes;            ///< each output's whole memory, padding included
  std::vector<tbem_operand> operands;        ///< as query left them
};

/// Runs the problem once, in the backend's own memory where that is a device's, which the host never touches. Outputs and
/// workspace are filled with NaN patterns before, guard bytes after them are checked, and so is that padding of outputs is zero
/// and that inputs are left alone; what goes wrong there is a failure of the current test.
Outcome runOn(const tbem_backend& backend, const Problem& problem, const Settings& settings);

/// ||a - b|| / max(||b||, tiny), where a and b may hold infinities of equal sign and NaN at equal places.
double distance(const std::vector<double>& a, const std::vector<double>& b);

tbem_primitive primitiveNamed(const std::string& name);

}  // namespace tbem::test
