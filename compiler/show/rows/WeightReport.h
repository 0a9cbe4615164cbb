// A list of weights or of a file's arrays: as a table, or a JSON object for each.
#pragma once

#include "compiler/run/weights/ListWeights.h"
#include "compiler/show/Out.h"

#include <string>
#include <vector>

namespace tbem::driver {

void printArrays(show::Out& out, const std::string& title, const std::vector<ListedArray>& rows);
/// With the file's own texts behind the table.
void printArrayFile(show::Out& out, const std::string& path, const data::ArrayFile& file);

}  // namespace tbem::driver
