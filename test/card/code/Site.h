// One statement while it becomes an instruction: its modifiers are taken one by one, its operands become slots.
#pragma once

#include "test/card/code/Program.h"
#include "test/card/ptx/Failure.h"
#include "test/card/ptx/Module.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tbem::card {

/// Of a module that is being decoded: what names stand for.
struct Names {
  std::map<std::string, std::uint64_t, std::less<>> addresses;  ///< of variables of the module
  std::map<std::string, const Function*, std::less<>> functions;
};

/// Of a function that is being decoded.
struct FunctionSite {
  const FunctionText& text;
  const Names& names;
  Function& function;
  std::vector<std::uint64_t> offsets;  ///< of its variables: shared address, or offset in the local or .param area
  std::map<std::string, std::uint64_t, std::less<>> shared;  ///< addresses of the module's shared variables that it uses
  std::map<std::uint64_t, std::uint32_t> constants;
  std::uint32_t scratch = 0;       ///< slot of addresses that are computed on the way
  std::vector<std::size_t> jumps;  ///< instructions whose number is still a statement of the text

  std::uint32_t slotOf(std::uint32_t registerIndex) const { return static_cast<std::uint32_t>(Special::Count) + registerIndex; }
  std::uint32_t constant(std::uint64_t bits);
};

class Site {
public:
  Site(FunctionSite& function, const Statement& statement);

  [[noreturn]] void fail(const std::string& text) const;

  /// Takes the modifier if it is there.
  bool take(std::string_view modifier);
  /// Takes one that has to be there.
  void expect(std::string_view modifier);
  std::optional<Type> takeType();
  Type expectType(std::initializer_list<Type> allowed);
  std::optional<Space> takeSpace();
  /// kNearest and so on; `otherwise` if none is there.
  std::uint32_t takeRounding(std::uint32_t otherwise);
  /// Takes all of .approx.ftz.f64 if they are there.
  bool takeReal64Approximation();
  /// Fails if a modifier was not taken.
  void finish() const;

  const std::vector<std::string>& modifiers() const { return statement_.modifiers; }
  std::size_t operands() const { return statement_.operands.size(); }
  void expectOperands(std::size_t least, std::size_t most) const;
  const Operand& operand(std::size_t at) const { return statement_.operands.at(at); }

  /// Slot of what is read as `type`. Registers have its size; constants become slots.
  std::uint32_t source(const Operand& operand, Type type);
  std::uint32_t source(std::size_t at, Type type) { return source(operand(at), type); }
  /// Registers may be wider.
  std::uint32_t looseSource(const Operand& operand, Type type);
  /// Slot of a predicate; `negated` says whether it is the opposite.
  std::uint32_t predicate(const Operand& operand, bool& negated);
  /// Slot of what is written as `type`.
  std::uint32_t target(const Operand& operand, Type type);
  std::uint32_t target(std::size_t at, Type type) { return target(operand(at), type); }
  /// Registers may be wider, and take the value extended.
  std::uint32_t looseTarget(const Operand& operand, Type type);
  /// Slot and Instruction::number of an address of `space`, behind which `size` bytes are meant. True: it lies in the .param area
  /// of the function, at `number`.
  bool address(std::size_t at, Space space, std::uint32_t& slot, std::uint64_t size);
  /// Puts an instruction that computes the address of a local variable. False: it is none.
  bool emitLocalAddress(const Operand& operand, std::uint32_t slot);
  std::int64_t immediate(const Operand& operand) const;
  std::uint32_t labelled(const Operand& operand) const;
  /// Type of an operand that is a register.
  std::optional<Type> registerType(const Operand& operand) const;

  /// Puts the instruction, as it is now, behind the others; what follows starts as a copy of it without a handler.
  void emit(Handler handler);
  /// Of an instruction that says itself where its threads go on (Flow::Other).
  void emitFlow(Handler handler);

  Instruction in;
  FunctionSite& function;

private:
  std::uint32_t literal(const Operand& operand, Type type);

  const Statement& statement_;
  std::vector<std::string_view> left_;
};

/// Decodes a statement: takes its modifiers and operands and emits instructions.
using Opcode = void (*)(Site& site);
/// Of a name such as "add"; nullptr: not known.
Opcode opcodeOf(std::string_view name);

struct OpcodeRow {
  const char* name;
  Opcode decode;
};
// By what they do, each in a file of its own.
std::vector<OpcodeRow> integerOpcodes();
std::vector<OpcodeRow> bitOpcodes();
std::vector<OpcodeRow> carryOpcodes();
std::vector<OpcodeRow> arithmeticOpcodes();
std::vector<OpcodeRow> functionOpcodes();
std::vector<OpcodeRow> compareOpcodes();
std::vector<OpcodeRow> convertOpcodes();
std::vector<OpcodeRow> moveOpcodes();
std::vector<OpcodeRow> memoryOpcodes();
std::vector<OpcodeRow> atomicOpcodes();
std::vector<OpcodeRow> warpOpcodes();
std::vector<OpcodeRow> controlOpcodes();

}  // namespace tbem::card
