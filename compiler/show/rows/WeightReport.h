// A list of weights or of a file's arrays, and how both fit together: as tables, or JSON.
#pragma once

#include "compiler/run/Rows.h"
#include "compiler/run/weights/CompareArrays.h"
#include "compiler/run/weights/ListWeights.h"
#include "compiler/show/Out.h"

#include <string>
#include <vector>

namespace tbem::driver {

void printArrays(show::Out& out, const std::string& title, const std::vector<ListedArray>& rows);
/// With the file's own texts behind the table.
void printArrayFile(show::Out& out, const std::string& path, const data::ArrayFile& file);
/// What becomes of each array of the file at `path` in the row's network, and what lacks.
void printComparison(show::Out& out, const RowState& row, const std::string& path, const ArrayComparison& comparison);

}  // namespace tbem::driver
