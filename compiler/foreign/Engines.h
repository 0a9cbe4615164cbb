// What a framework computes with, where one can choose: what Keras calls its backend. Each choice is a row of the table of
// frameworks (Frameworks.h), and rows of one framework have its name.
#pragma once

#include "compiler/foreign/Python.h"

#include <span>
#include <string>
#include <string_view>

namespace tbem::foreign {

struct Engine {
  const char* name;                       ///< in a program, and in the runner: "jax"
  std::span<const char* const> packages;  ///< of Python
};

/// nullptr: the framework computes itself.
const Engine* engineOf(const Framework& framework);
/// The framework of this one's name that computes with the engine of that name; nullptr: there is none.
const Framework* withEngine(const Framework& framework, std::string_view engine);
/// As `on` of a measure names it where nothing else is said: `keras(backend: "jax")`.
std::string nameOf(const Framework& framework);

/// The first package that rows of the framework need and this Python has not, the framework's own before its engine's; "": it has
/// all.
std::string missingPackage(const PythonFacts& facts, const Framework& framework);
/// "keras 3.15.1, tensorflow 2.21.0", of those that are there.
std::string packagesText(const PythonFacts& facts, const Framework& framework);

}  // namespace tbem::foreign
