// The Python that frameworks run in: which one, and what it has.
#pragma once

#include "compiler/foreign/Backend.h"

#include <tl/expected.hpp>

#include <map>
#include <string>

namespace tbem::foreign {

/// What a campaign says of programs that are not ours.
struct Surroundings {
  std::string python;  ///< --python; "": the active environment's ($VIRTUAL_ENV), else python3
  std::string folder;  ///< of the program, in which commands run and from which its paths are; "": where tbemc was started
};

/// The Python that a backend of a framework runs in: a path, or "python3".
std::string pythonOf(const Backend& backend, const Surroundings& surroundings);

struct PythonFacts {
  std::string program;  ///< as it was started
  std::string version;
  std::map<std::string, std::string> packages;  ///< frameworks that are installed, with their versions
  std::string allocator;                        ///< the C library's and what is put in its place, with their settings
};

/// Asks a Python what it has, without importing any of it: some 50 ms. Errors: why it cannot be asked, with its name.
tl::expected<PythonFacts, std::string> lookAt(const std::string& python);
/// "torch 2.15.0, Python 3.11.2, glibc 2.36".
std::string versionsText(const PythonFacts& facts, const Framework& framework);

/// The CUDA device that this Python's framework sees, as it is called; the framework is imported for that. Errors: why it sees
/// none.
tl::expected<std::string, std::string> cardOf(const std::string& python, const Framework& framework);

}  // namespace tbem::foreign
