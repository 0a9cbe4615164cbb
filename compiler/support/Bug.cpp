#include "compiler/support/Bug.h"

#include "compiler/support/Streams.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace tbem {

namespace {
struct Hook {
  std::mutex mutex;
  ReproducerHook function = nullptr;
  void* context = nullptr;
};
// The one piece of global state in the compiler: a bug is found where no Session is at hand.
Hook& hook() {
  static Hook instance;
  return instance;
}
}  // namespace

void setReproducerHook(ReproducerHook function, void* context) {
  const std::scoped_lock lock(hook().mutex);
  hook().function = function;
  hook().context = context;
}

void reportBug(std::string_view file, int line, std::string_view message) {
  printErr("tbemc: this is a bug in tbemc, not in your program\n  {}:{}: {}\n", file, line, message);
  ReproducerHook function = nullptr;
  void* context = nullptr;
  {
    const std::scoped_lock lock(hook().mutex);
    function = std::exchange(hook().function, nullptr);  // a bug while the file is written must not come back here
    context = hook().context;
  }
  const std::string path = function != nullptr ? function(context) : std::string();
  if (!path.empty()) printErr("  what reproduces it: {}\n", path);
  std::fflush(nullptr);
  std::_Exit(70);
}

}  // namespace tbem
