// How rooflines of rows are shown.
#pragma once

#include "compiler/run/Rooflines.h"
#include "compiler/show/Out.h"
#include "runtime/report/Table.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// Bytes moved, intensity, least time: columns of the table of estimates, and a row's cells there.
void addRooflineColumns(report::Table& table);
void addRooflineCells(std::vector<report::Cell>& cells, const estimate::Roofline& roofline);
/// The operators that take the most of one row's least time, and what it leaves out.
void printRoofline(show::Out& out, const Workspace& workspace, const estimate::Roofline& roofline, const std::string& levels);

}  // namespace tbem::driver
