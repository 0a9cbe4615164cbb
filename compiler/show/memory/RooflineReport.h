// Rooflines of rows, and how they are shown.
#pragma once

#include "compiler/devices/Devices.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/estimate/Roofline.h"
#include "runtime/report/Table.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// The row lowered in row-major layouts by `ref`: no machine's own layouts and reorders. Errors: in words.
tl::expected<estimate::Program, std::string> lowerRowMajor(Events& events, const RowState& row, const Options& options,
                                                           estimate::QueryCache& queries);

/// Rooflines of a state's rows on one device. Of this machine: the program that runs there. Of any other device: the row lowered
/// in row-major layouts by `ref`, so that no other machine's layouts and reorders are counted.
class Rooflines {
public:
  /// `state` has passed `lower` and outlives this.
  Rooflines(DeviceChoice choice, const State& state) : choice(std::move(choice)), state(state) {}
  /// Errors: in words.
  tl::expected<estimate::Roofline, std::string> of(const RowState& row);

private:
  DeviceChoice choice;
  const State& state;
  estimate::QueryCache queries;
  std::size_t done = 0;  ///< rows
};

/// Bytes moved, intensity, least time: columns of the table of estimates, and a row's cells there.
void addRooflineColumns(report::Table& table);
void addRooflineCells(std::vector<report::Cell>& cells, const estimate::Roofline& roofline);
/// Which arithmetic the least time leaves out, and what to do about it; "": none.
std::string leftOutText(const estimate::Roofline& roofline);
/// The operators that take the most of one row's least time, and what it leaves out.
void printRoofline(show::Out& out, const Workspace& workspace, const estimate::Roofline& roofline,
                   const std::string& levels);

}  // namespace tbem::driver
