// The program of an exported model, for `tbemc import` and for programs that hold the compiler in their own process.
#pragma once

#include "compiler/driver/Command.h"
#include "compiler/driver/ImportFailures.h"
#include "compiler/import/Export.h"
#include "compiler/import/Import.h"
#include "compiler/show/Out.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// What an export is made a program of.
struct ImportRequest {
  std::string network;  ///< its name
  std::string file;     ///< that messages call the program; "": NETWORK.tbem
  bool strict = false;  ///< no operator is opaque
  ModelFiles files = ModelFiles::Elsewhere;
};

struct ImportedProgram {
  std::string file, text;
  imports::Imported imported;
};

/// What there is to say of a program that was written: what of the model it leaves out, which sizes are numbers in it.
std::vector<std::string> remarksOn(const imports::Imported& imported);

/// One object "imported" of JSON: the weights' names in the model and in the program.
void showWeightNames(show::Out& out, const imports::Imported& imported);

/// The program of a model, in the formatter's layout and with a design of one row. It is read as any program is, with the
/// options of a command, and its weights are compared with the model's. `program` is written where the status is kOk; where it is
/// not, `out` was told why.
int importProgram(show::Out& out, const CommandOptions& options, const ImportRequest& request, imports::Exported model,
                  ImportedProgram& program);

}  // namespace tbem::driver
