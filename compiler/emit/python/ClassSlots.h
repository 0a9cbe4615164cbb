// What may differ between the objects of one class: numbers of its own steps, arguments of the modules inside, whole modules.
// Internal to compiler/emit/python.
#pragma once

#include "compiler/emit/python/Classes.h"

#include <string>
#include <vector>

namespace tbem::emit {

/// All modules and classes while the parameters of classes are found. Classes inside of others have theirs before them.
struct ClassTable {
  const std::vector<Module>& modules;
  const Dialect& dialect;
  const ValueText& text;
  std::vector<Class> classes;
  std::vector<std::size_t> object;  ///< by module: which of its class

  const Class& typeOf(std::size_t module) const { return classes[modules[module].type]; }
  /// The constructor's call that makes the module, all of whose arguments are literals.
  Constructor literal(std::size_t module) const;
};

/// A constructor's call: the first two arguments by position, the others by name.
Constructor constructorText(const Class& type, const std::vector<std::string>& arguments);

/// A place in a class's text, and what stands there in each object.
struct Slot {
  std::string name;
  std::vector<std::string> values;
  bool isModule = false;  ///< Parameter::isModule

  bool isLiteral() const;
};

/// How the turns of a loop are made.
struct LoopPlan {
  enum class Kind : std::uint8_t {
    Equal,         ///< all alike: slots of one, then how many
    FirstDiffers,  ///< all but the first alike: slots of it, of one of the others, then how many these are
    Listed,        ///< as many in each object: slots of each
    Given          ///< one slot: the list
  } kind = Kind::Given;
  std::vector<std::size_t> slots;
};

struct ClassSlots {
  std::vector<Slot> slots;
  std::vector<std::size_t> ofHole;                ///< by hole
  std::vector<std::vector<std::size_t>> ofChild;  ///< by step: of the module inside
  std::vector<char> isGiven;    ///< by step: the module inside is of several classes, and so a parameter itself (one slot)
  std::vector<LoopPlan> loops;  ///< by step
};

ClassSlots slotsOf(const ClassTable& table, const Class& type);

}  // namespace tbem::emit
