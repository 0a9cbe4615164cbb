// What a worker of a campaign does: it measures one row in its process. It knows no program and compiles nothing: who starts it
// has put the row's file and its native code into the cache. What it is linked with is loaded again for every row and repeat, so
// it uses nothing of the compiler but the loader of native code.
#pragma once

#include "compiler/worker/RowFile.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// Raised where what a worker holds beside its row changes, and with it the memory that is measured: part of every row's
/// identity.
inline constexpr int kWorkerVersion = 2;

/// How the worker at `program` is started for a row.
std::vector<std::string> workerCommand(const std::string& program, const RowFile& row);

struct WorkerAnswer {
  int status = 0;    ///< of the process
  std::string line;  ///< the measurement (measure::toJson), for standard output; "" where there is none
};
/// `command`: as of workerCommand; another is answered with status 2.
WorkerAnswer answerAsWorker(const std::vector<std::string>& command);

}  // namespace tbem::driver
