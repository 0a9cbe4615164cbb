// Our own mistakes: a condition that no input may bring about. Never for what a user wrote or what the machine lacks.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>

namespace tbem {

/// What TBEM_BUG throws. Nobody in the compiler catches it: whoever runs the compiler does, tells it and drops what was at work.
class Bug : public std::exception {
public:
  Bug(std::string_view file, int line, std::string_view message, std::string program);
  /// "FILE:LINE: MESSAGE", of our source.
  const char* what() const noexcept override { return text.c_str(); }
  /// What was being compiled (BugContext), which reproduces it; "": nothing is known.
  const std::string& program() const noexcept { return compiled; }

private:
  std::string text, compiled;
};

/// While it lives, a bug found in this thread carries what is compiled here; of several contexts the last that was made. Made and
/// destroyed in the same thread.
class BugContext {
public:
  using Text = std::string (*)(const void* compiled);
  /// `compiled` outlives this; `text` writes it down.
  BugContext(Text text, const void* compiled);
  ~BugContext();
  BugContext(const BugContext&) = delete;
  BugContext& operator=(const BugContext&) = delete;

  std::string program() const { return text(compiled); }

private:
  Text text;
  const void* compiled;
};

[[noreturn]] void throwBug(std::string_view file, int line, std::string_view message);

}  // namespace tbem

#define TBEM_BUG(...) ::tbem::throwBug(__FILE__, __LINE__, ::fmt::format(__VA_ARGS__))
#define TBEM_CHECK(condition)                                     \
  do {                                                            \
    if (!(condition)) TBEM_BUG("`{}` does not hold", #condition); \
  } while (false)
