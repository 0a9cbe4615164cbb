// Frameworks as programs, messages and Python call them: with the engine that they compute with, where one can choose.
#pragma once

#include "compiler/foreign/Python.h"

#include <string>
#include <vector>

namespace tbem::foreign {

/// Of Python, that rows of the framework need: its own and its engine's.
std::vector<std::string> packagesOf(const Framework& framework);
/// As `on` of a measure names it where nothing else is said: `keras(backend: "jax")`.
std::string nameOf(const Framework& framework);

/// The first package that rows of the framework need and this Python has not, the framework's own before its engine's; "": it has
/// all.
std::string missingPackage(const PythonFacts& facts, const Framework& framework);
/// "keras 3.15.1, tensorflow 2.21.0", of those that are there.
std::string packagesText(const PythonFacts& facts, const Framework& framework);

}  // namespace tbem::foreign
