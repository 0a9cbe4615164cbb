// tbemc-worker: started by `tbemc measure` for each row and repeat. All of it is in compiler/worker.
#include "compiler/worker/Worker.h"

#include <cstdio>

int main(int argc, char** argv) {
  const auto [status, line] = tbem::driver::answerAsWorker({argv, argv + argc});
  if (status == 2) std::fputs("tbemc-worker is started by tbemc: tbemc-worker FILE IDENTITY CACHE_FOLDER\n", stderr);
  if (!line.empty() && (std::puts(line.c_str()) < 0 || std::fflush(stdout) != 0)) return 1;
  return status;
}
