// Nothing is thrown across the C interface. Internal to this folder.
#pragma once

#include "compiler/embed/include/tbem/tbem.h"

#include <exception>
#include <string>

namespace tbem::embed {

/// The reason of an exception that work of this interface ended with, in `error`, which may be nullptr; its outcome.
tbem_outcome tellException(const std::exception_ptr& thrown, std::string* error) noexcept;

/// What `work()` returns, or of an exception what it means. `error` gets the reason, "" where there is none.
template <class Work>
tbem_outcome guarded(std::string* error, const Work& work) noexcept {
  try {
    if (error != nullptr) error->clear();
    return work();
  } catch (...) {
    return tellException(std::current_exception(), error);
  }
}

}  // namespace tbem::embed
