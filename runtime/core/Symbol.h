// Functions of a library that is opened at run time.
#pragma once

#include <dlfcn.h>

namespace tbem::runtime {

/// Gives `symbol`, a pointer, what the library has of this name. False: it has nothing.
template <class Pointer>
bool findSymbol(void* library, const char* name, Pointer& symbol) {
  symbol = reinterpret_cast<Pointer>(::dlsym(library, name));
  return symbol != nullptr;
}

}  // namespace tbem::runtime
