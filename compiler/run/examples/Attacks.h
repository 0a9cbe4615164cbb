// Clause `attack` of a measurement: the graphs of a row's method, their native code beside the network's, and the search.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/run/Rows.h"
#include "runtime/perturb/Summary.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>

namespace tbem::driver {

/// Makes and elaborates the graphs of the row's attack, whose gates weigh what they do in this row. False after a report.
bool elaborateAttack(Workspace& workspace, const Target& target, MeasuredExamples& examples, const DesignRun& run,
                     std::size_t row, const graph::Row& network);

/// Of the row; nullptr: there is no clause `attack`.
const RowAttack* attackOn(const MeasuredExamples& examples, std::size_t row);

/// Hash of all that decides what the attack finds, but for the network, its weights and the data.
std::string identityOf(const RowAttack& attack, const data::Description& about);

/// The network of a row as native code and, behind it, what moves its examples: what learns, where there is that, and the mover.
/// Errors, in words: one of them cannot be lowered or compiled.
tl::expected<std::list<jit::Compiled>, std::string> compileBeside(RowTable& table, const RowState& network,
                                                                  const RowAttack* attack);

/// `what` of the row ("example", "gradient, step 3 of 30, point") is done so often; false ends it.
using ExampleProgress = std::function<bool(const std::string& what, std::int64_t done, std::int64_t total)>;

/// What the attack did to the examples. `code`: of compileBeside. Nothing: `progress` ended it.
tl::expected<std::optional<perturb::Summary>, std::string> runAttack(const RowAttack& attack, const MeasuredExamples& examples,
                                                                     const data::Dataset& dataset, const perturb::Victim& victim,
                                                                     const std::list<jit::Compiled>& code,
                                                                     const ExampleProgress& progress);

}  // namespace tbem::driver
