// The command line: what it does is in compiler/driver. Only here is the process itself changed.
#include "compiler/driver/Cli.h"
#include "tools/tbemc/Process.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace {
constexpr const char* kSelf = "/proc/self/exe";  ///< the same file, whatever lies at its path meanwhile

/// Beside this program, as it was built, or where an installed tree has it. Symbolic links to this program do not matter.
std::string workerPath() {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::read_symlink(kSelf, unknown).parent_path();
  const std::filesystem::path beside = folder / "tbemc-worker", installed = folder / TBEM_WORKER_FROM_BIN;
  return std::filesystem::exists(beside, unknown) || !std::filesystem::exists(installed, unknown) ? beside
                                                                                                  : installed.lexically_normal();
}
}  // namespace

int main(int argc, char** argv) {
  const bool runs = tbem::driver::runsNativeCode(argc, argv);
  if (runs) tbem::process::limitSpinning(kSelf, argv);
  tbem::process::holdStandardStreams();
  tbem::process::writesSayWhatFails();
  tbem::process::Signals signals;
  tbem::driver::Host host{.worker = workerPath(), .interrupts = &signals};
  host.process.runSelf = [](const tbem::repl::SelfCommand& command) { return tbem::process::runSelf(kSelf, command); };
  host.process.history = tbem::process::historyFile();
  if (!runs) host.readerGone = tbem::process::endBySigpipe;
  return tbem::driver::runCommandLine(argc, argv, host);
}
