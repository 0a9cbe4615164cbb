// Our own mistakes: a condition that no input may bring about. Never for what a user wrote or what the machine lacks.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tbem {

/// Writes what reproduces the failure and returns the file's name, or "" where it could not.
using ReproducerHook = std::string (*)(void* context);

/// Registered by the driver, once; called when a bug is found. A null hook unregisters.
void setReproducerHook(ReproducerHook hook, void* context);

/// Prints what failed and the reproducer's name on standard error, and ends the process with 70.
[[noreturn]] void reportBug(std::string_view file, int line, std::string_view message);

}  // namespace tbem

#define TBEM_BUG(...) ::tbem::reportBug(__FILE__, __LINE__, ::fmt::format(__VA_ARGS__))
#define TBEM_CHECK(condition)                                     \
  do {                                                            \
    if (!(condition)) TBEM_BUG("`{}` does not hold", #condition); \
  } while (false)
