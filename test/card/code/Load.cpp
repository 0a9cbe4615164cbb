#include "test/card/code/Load.h"

#include "test/card/code/Site.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tbem::card {
namespace {

constexpr unsigned kNewestVersion = 90;  // of PTX, for the driver of CUDA 13.0

std::uint64_t aligned(std::uint64_t offset, std::uint64_t align) { return (offset + align - 1) / align * align; }

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

void addNames(const Operand& operand, std::set<std::string>& names) {
  if (operand.kind == Operand::Kind::Name) names.insert(operand.name);
  for (const Operand& part : operand.parts) addNames(part, names);
}

std::set<std::string> namesIn(const FunctionText& text) {
  std::set<std::string> names;
  for (const Statement& statement : text.statements)
    for (const Operand& operand : statement.operands) addNames(operand, names);
  return names;
}

/// What is known of a function before its statements are decoded.
struct Layout {
  const FunctionText* text = nullptr;
  Function* function = nullptr;
  std::vector<std::uint64_t> offsets;  ///< of its variables
  std::map<std::string, std::uint64_t, std::less<>> shared;
};

class Loader {
public:
  Loader(const ModuleText& module, Memory& memory, LoadedProgram& loaded) : module_(module), memory_(memory), loaded_(loaded) {}

  void load() {
    placeVariables();
    std::vector<Layout> layouts;
    for (const FunctionText& text : module_.functions) {
      if (!text.body) continue;
      auto function = std::make_unique<Function>();
      if (!names_.functions.emplace(text.name, function.get()).second)
        throw PtxFailure(text.line, text.name + " is defined twice");
      layouts.push_back({&text, function.get(), {}, {}});
      loaded_.program.functions.push_back(std::move(function));
    }
    for (Layout& layout : layouts) {
      placeShared(layout);
      layOut(layout);
    }
    for (const Layout& layout : layouts) decode(layout);
  }

private:
  void placeVariables() {
    for (const Variable& variable : module_.variables) {
      if (variable.space == Space::Shared) continue;
      const auto address = memory_.allocate(std::max<std::uint64_t>(variable.bytes, 1), variable.name);
      if (!address) throw std::bad_alloc();
      loaded_.variables.push_back(*address);
      names_.addresses[variable.name] = *address;
      // What has no initial value is zero.
      std::memset(memory_.bytes(*address), 0, variable.bytes);
      if (!variable.initial.empty()) std::memcpy(memory_.bytes(*address), variable.initial.data(), variable.bytes);
      if (variable.space == Space::Const)
        memory_.markConstant(*address, variable.bytes);
      else
        memory_.markWritten(*address, variable.bytes);
    }
  }

  /// A kernel's shared memory: its own variables and those of the module that it names, and behind them what a launch adds.
  void placeShared(Layout& layout) {
    const FunctionText& text = *layout.text;
    std::uint64_t& end = layout.function->sharedBytes;
    layout.offsets.resize(text.variables.size());
    const auto place = [&](const Variable& variable) {
      if (!text.entry) throw PtxFailure(text.line, "shared memory of functions that are no kernels is not known");
      if (!variable.initial.empty()) throw PtxFailure(variable.line, "shared memory has no initial values");
      end = aligned(end, variable.align);
      return kSharedBase + std::exchange(end, end + variable.bytes);
    };
    for (std::size_t at = 0; at < text.variables.size(); ++at)
      if (text.variables[at].space == Space::Shared) layout.offsets[at] = place(text.variables[at]);
    const std::set<std::string> names = namesIn(text);
    for (const bool external : {false, true})
      for (const Variable& variable : module_.variables)
        if (variable.space == Space::Shared && variable.external == external && names.contains(variable.name))
          layout.shared[variable.name] = place(variable);
  }

  /// Offsets of a function's variables of other spaces.
  void layOut(Layout& layout) {
    const FunctionText& text = *layout.text;
    Function& function = *layout.function;
    function.name = text.name;
    function.entry = text.entry;
    function.mostThreads = text.mostThreads;
    function.exactThreads = text.exactThreads;
    for (const Register& of : text.registers) function.registers.push_back(of.name);
    function.registers.emplace_back("(address)");
    std::uint64_t arguments = 0;
    for (std::uint32_t at = 0; at < text.variables.size(); ++at) {
      const Variable& variable = text.variables[at];
      if (variable.space == Space::Shared) continue;
      const bool argument = text.entry && std::find(text.parameters.begin(), text.parameters.end(), at) != text.parameters.end();
      std::uint64_t& end = argument ? arguments : variable.space == Space::Local ? function.localBytes : function.paramBytes;
      layout.offsets[at] = end = aligned(end, variable.align);
      end += variable.bytes;
    }
    function.paramBytes = aligned(function.paramBytes, 16);
    for (const std::uint32_t at : text.parameters) function.parameters.push_back({layout.offsets[at], text.variables[at].bytes});
    for (const std::uint32_t at : text.results) function.results.push_back({layout.offsets[at], text.variables[at].bytes});
  }

  void decode(const Layout& layout) {
    const FunctionText& text = *layout.text;
    Function& function = *layout.function;
    FunctionSite site{text, names_, function, layout.offsets, layout.shared, {}, 0, {}};
    site.scratch = site.slotOf(static_cast<std::uint32_t>(text.registers.size()));
    std::vector<std::uint32_t> starts;
    // Whoever runs off the end of a function goes back.
    Statement last;
    last.line = text.statements.empty() ? text.line : text.statements.back().line;
    last.opcode = "ret";
    for (std::size_t at = 0; at <= text.statements.size(); ++at) {
      const Statement& statement = at < text.statements.size() ? text.statements[at] : last;
      starts.push_back(static_cast<std::uint32_t>(function.code.size()));
      const Opcode opcode = opcodeOf(statement.opcode);
      if (opcode == nullptr) throw PtxFailure(statement.line, "the instruction `" + statement.opcode + "` is not known");
      Site one(site, statement);
      opcode(one);
    }
    for (const std::size_t jump : site.jumps)
      function.code[jump].number = starts[static_cast<std::size_t>(function.code[jump].number)];
    for (auto& table : function.branches)
      for (std::uint32_t& target : table) target = starts[target];
  }

  const ModuleText& module_;
  Memory& memory_;
  LoadedProgram& loaded_;
  Names names_;
};

}  // namespace

Opcode opcodeOf(std::string_view name) {
  static const auto kAll = [] {
    std::map<std::string, Opcode, std::less<>> all;
    for (const auto& rows :
         {integerOpcodes(), bitOpcodes(), carryOpcodes(), arithmeticOpcodes(), functionOpcodes(), compareOpcodes(),
          convertOpcodes(), moveOpcodes(), memoryOpcodes(), atomicOpcodes(), warpOpcodes(), controlOpcodes()})
      for (const OpcodeRow& row : rows) all.emplace(row.name, row.decode);
    return all;
  }();
  const auto entry = kAll.find(name);
  return entry == kAll.end() ? nullptr : entry->second;
}

tl::expected<LoadedProgram, LoadError> loadProgram(std::string_view text, unsigned computeCapability, Memory& memory) {
  LoadedProgram loaded;
  const auto failed = [&](LoadError::Kind kind, const std::string& words) {
    for (const std::uint64_t address : loaded.variables) memory.release(address);
    return tl::make_unexpected(LoadError{kind, words});
  };
  loaded.program.lines = linesOf(text);
  try {
    const ModuleText module = parseModule(text);
    if (module.version > kNewestVersion)
      return failed(LoadError::Kind::Version, fmt::format("PTX {} is newer than this driver", module.version));
    if (module.target > computeCapability)
      return failed(LoadError::Kind::Target, fmt::format("sm_{} is newer than this card", module.target));
    Loader(module, memory, loaded).load();
  } catch (const PtxFailure& failure) {
    return failed(LoadError::Kind::Text, fmt::format("line {}: {}", failure.line, failure.what()));
  } catch (const std::bad_alloc&) {
    return failed(LoadError::Kind::Memory, "its variables do not fit into the card's memory");
  }
  return loaded;
}

}  // namespace tbem::card
