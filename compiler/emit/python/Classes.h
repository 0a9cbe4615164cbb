// The modules of a network as classes. Modules of one declaration that do the same, but for numbers and for the modules inside of
// them, are objects of one class: what differs are its parameters.
#pragma once

#include "compiler/emit/python/Modules.h"

#include <functional>
#include <string>
#include <vector>

namespace tbem::emit {

/// A parameter of a class.
struct Parameter {
  std::string name;
  std::vector<std::string> values;  ///< as text, by object (Class::objects)
  bool isModule = false;            ///< a module, or a list of them
};

/// A constructor's call in a class, in which holes are literals or parameters by now: "Residual(16, out, stride=1)".
using Constructor = std::string;

struct Class {
  std::string name;
  std::vector<std::size_t> objects;  ///< positions of modules; the first stands for all
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, Constructor>> attributes;  ///< in the order of the forward pass
  std::vector<std::pair<std::string, std::string>> kept;        ///< attributes for parameters that the forward pass reads
  std::vector<std::string> holes;  ///< by hole of the first object: what stands there in the forward pass
  bool isIdentity = false;
};

/// Values of an elaboration as Python text, to find the parameter of a declaration that a number comes from.
using ValueText = std::function<std::string(const sema::Value&)>;

struct Classes {
  std::vector<Module> modules;  ///< those inside of others before them; the last is the network
  std::vector<Class> classes;   ///< those that others are made of before them
};

/// Modules of a declaration that hold each other do not exist, so that this ends.
tl::expected<Classes, Refusal> classesOf(const graph::Graph& graph, std::vector<Module> modules, const Dialect& dialect,
                                         const ValueText& text);

}  // namespace tbem::emit
