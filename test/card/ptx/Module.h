// A PTX text as it was written: variables, functions, statements with their names resolved to registers and variables.
#pragma once

#include "test/card/ptx/Type.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tbem::card {

struct Operand {
  enum class Kind : std::uint8_t {
    Register,  ///< `index` of the function's registers
    Integer,   ///< `bits`
    Real32,    ///< `bits`
    Real64,    ///< `bits`
    Variable,  ///< `index` of the function's variables, `bits` bytes behind its start
    Name,      ///< of a label, a function, or a variable of the module (`bits` bytes behind its start)
    Special,   ///< %tid.x and the like
    Address,   ///< [parts[0] + bits]; parts[0] a Register, Integer, Variable or Name
    List,      ///< {a, b}, (a, b), or the two results a|b
    Sink       ///< _
  };
  Kind kind = Kind::Sink;
  bool negated = false;  ///< !%p
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  std::string name;
  std::vector<Operand> parts;
};

struct Statement {
  unsigned line = 0;
  bool guarded = false, guardNegated = false;
  std::uint32_t guard = 0;             ///< register
  std::string opcode;                  ///< "ld"
  std::vector<std::string> modifiers;  ///< "global", "f32"
  std::vector<Operand> operands;
};

struct Register {
  std::string name;
  Type type = Type::Pred;
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  std::uint64_t align = 1;
  std::uint64_t bytes = 0;
  bool external = false;           ///< `.extern .shared x[]`: what a launch adds
  std::vector<std::byte> initial;  ///< empty: none
  unsigned line = 0;
};

struct FunctionText {
  std::string name;
  unsigned line = 0;
  bool entry = false;
  bool body = false;  ///< else only declared
  /// Parameters and results first, then what is declared in the body.
  std::vector<Variable> variables;
  std::vector<std::uint32_t> parameters, results;  ///< of `variables`
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::string, std::uint32_t, std::less<>> labels;               ///< statement that stands behind it
  std::map<std::string, std::vector<std::string>, std::less<>> branches;  ///< .branchtargets by their label
  std::uint64_t mostThreads = 0;                                          ///< .maxntid or .reqntid, 0: not said
  bool exactThreads = false;                                              ///< .reqntid
};

struct ModuleText {
  unsigned version = 0;  ///< 63 for 6.3
  unsigned target = 0;   ///< 75 for sm_75
  std::vector<Variable> variables;
  std::vector<FunctionText> functions;
};

/// Throws PtxFailure.
ModuleText parseModule(std::string_view text);

}  // namespace tbem::card
