#include "compiler/embed/Guard.h"

#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <new>

namespace tbem::embed {

tbem_outcome tellException(const std::exception_ptr& thrown, std::string* error) noexcept {
  std::string ignored;
  std::string& into = error != nullptr ? *error : ignored;
  try {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      into = "out of memory";  // short enough to need none
      return TBEM_NO_MEMORY;
    } catch (const Bug& bug) {
      into = fmt::format("this is a bug in tbem, not in your program: {}", bug.what());
    } catch (const std::exception& other) {
      into = fmt::format("a bug of ours: {}", other.what());
    }
  } catch (...) {
    into = "a bug of ours";  // and no memory to say which
  }
  return TBEM_INTERNAL;
}

}  // namespace tbem::embed
