// Branches, calls, ends (PTX ISA 9.0, section 9.7.12).
#include "test/card/code/Handlers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::card {
namespace {

void bra(Site& site) {
  site.take("uni");
  site.finish();
  site.expectOperands(1, 1);
  site.in.number = site.labelled(site.operand(0));
  site.in.flow = Flow::Branch;
  site.function.jumps.push_back(site.function.function.code.size());
  site.emit(nullptr);
}

/// By an index into the function's table `number`.
bool branchByIndex(const Instruction& in, Lane& lane) {
  const auto index = lane.get<std::uint32_t>(in.from[0]);
  const std::vector<std::uint32_t>& targets = lane.function->branches[static_cast<std::size_t>(in.number)];
  if (index >= targets.size()) fail(lane, in, FaultKind::Trap, fmt::format("branches by index {} of {}", index, targets.size()));
  lane.next = targets[index];
  return true;
}

void brx(Site& site) {
  site.expect("idx");
  site.take("uni");
  site.finish();
  site.expectOperands(2, 2);
  site.in.from[0] = site.source(0, Type::U32);
  const auto table = site.function.text.branches.find(site.operand(1).name);
  if (table == site.function.text.branches.end()) site.fail("the table " + site.operand(1).name + " is not there");
  std::vector<std::uint32_t> targets;
  for (const std::string& name : table->second) {
    Operand label;
    label.kind = Operand::Kind::Name;
    label.name = name;
    targets.push_back(site.labelled(label));
  }
  site.in.number = static_cast<std::int64_t>(site.function.function.branches.size());
  site.function.function.branches.push_back(std::move(targets));
  site.emitFlow(each<branchByIndex>);
}

bool end(const Instruction&, Lane& lane) {
  lane.state = Lane::State::Ended;
  return false;
}

void enter(Lane& lane, const Function& function, std::size_t firstSlot, std::size_t firstParam) {
  lane.function = &function;
  lane.firstSlot = firstSlot;
  lane.firstParam = firstParam;
  lane.registers = lane.warp->slots.data() + firstSlot * 32 + lane.inWarp();
  lane.params = lane.paramBytes.data() + firstParam;
}

/// Room for so many slots, which may move those that are there.
void widen(Warp& warp, std::size_t slots) {
  if (warp.slots.size() >= slots * 32) return;
  warp.slots.resize(slots * 32);
  for (std::uint32_t at = 0; at < warp.count; ++at)
    warp.lanes[at].registers = warp.slots.data() + warp.lanes[at].firstSlot * 32 + at;
}

bool call(const Instruction& in, Lane& lane) {
  constexpr std::size_t kDeepest = 64;
  const Call& made = lane.function->calls[static_cast<std::size_t>(in.number)];
  const Function &caller = *lane.function, &callee = *made.callee;
  if (lane.frames.size() == kDeepest) fail(lane, in, FaultKind::Trap, "more than 64 functions call each other");
  lane.frames.push_back({&caller, lane.next, lane.firstSlot, lane.firstParam, lane.localBase, lane.localEnd, &made});
  const std::size_t slot = lane.firstSlot + caller.slots(), param = lane.firstParam + caller.paramBytes;
  widen(*lane.warp, slot + callee.slots());
  lane.paramBytes.resize(std::max<std::size_t>(lane.paramBytes.size(), param + callee.paramBytes));
  const std::uint64_t* const specials = lane.registers;
  enter(lane, callee, slot, param);
  for (std::uint32_t at = 0; at < static_cast<std::uint32_t>(Special::Count); ++at) lane.at(at) = specials[at * 32];
  const auto firstConstant = static_cast<std::uint32_t>(callee.slots() - callee.constants.size());
  for (std::uint32_t at = 0; at < callee.constants.size(); ++at) lane.at(firstConstant + at) = callee.constants[at];
  for (std::size_t at = 0; at < made.in.size(); ++at)
    std::memcpy(lane.params + callee.parameters[at].offset,
                lane.paramBytes.data() + lane.frames.back().firstParam + made.in[at].offset, made.in[at].bytes);
  lane.localBase = (lane.localEnd + 15) / 16 * 16;
  lane.localEnd = lane.localBase + callee.localBytes;
  lane.local.resize(std::max<std::size_t>(lane.local.size(), lane.localEnd));
  lane.next = 0;
  return true;
}

bool goBack(const Instruction& in, Lane& lane) {
  if (lane.frames.empty()) return end(in, lane);
  const Frame frame = lane.frames.back();
  lane.frames.pop_back();
  for (std::size_t at = 0; at < frame.call->out.size(); ++at)
    std::memcpy(lane.paramBytes.data() + frame.firstParam + frame.call->out[at].offset,
                lane.params + lane.function->results[at].offset, frame.call->out[at].bytes);
  enter(lane, *frame.function, frame.firstSlot, frame.firstParam);
  lane.localBase = frame.localBase;
  lane.localEnd = frame.localEnd;
  lane.next = frame.next;
  return true;
}

std::vector<Parameter> passed(Site& site, const Operand& list, const std::vector<Parameter>& wanted) {
  std::vector<Parameter> parameters;
  for (const Operand& part : list.parts) {
    if (part.kind != Operand::Kind::Variable || site.function.text.variables[part.index].space != Space::Param)
      site.fail("passes something else than variables of .param");
    parameters.push_back({site.function.offsets[part.index], site.function.text.variables[part.index].bytes});
  }
  const auto same = [](const Parameter& a, const Parameter& b) { return a.bytes == b.bytes; };
  if (!std::equal(parameters.begin(), parameters.end(), wanted.begin(), wanted.end(), same))
    site.fail("passes other parameters than the function has");
  return parameters;
}

/// cudaGraphSetConditional(handle, value), a function of the driver's own.
bool setCondition(const Instruction& in, Lane& lane) {
  const Call& made = lane.function->calls[static_cast<std::size_t>(in.number)];
  std::uint64_t handle = 0;
  std::uint32_t value = 0;
  std::memcpy(&handle, lane.params + made.in[0].offset, sizeof handle);
  std::memcpy(&value, lane.params + made.in[1].offset, sizeof value);
  auto* const conditions = lane.block->launch->conditions;
  const auto condition = conditions != nullptr ? conditions->find(handle) : decltype(conditions->find(handle)){};
  if (conditions == nullptr || condition == conditions->end())
    fail(lane, in, FaultKind::Trap, fmt::format("sets a condition of graphs that there is not: {:#x}", handle));
  condition->second = value;
  return true;
}

void callOf(Site& site) {
  site.take("uni");
  site.finish();
  site.expectOperands(1, 3);
  std::size_t at = 0;
  const Operand none;
  const Operand& results = site.operand(0).kind == Operand::Kind::List ? site.operand(at++) : none;
  const std::string& name = site.operand(at++).name;
  const auto function = site.function.names.functions.find(name);
  const bool setsCondition = name == "cudaGraphSetConditional";
  if (function == site.function.names.functions.end() && !setsCondition) site.fail("the function is not defined");
  const Operand& parameters = at < site.operands() ? site.operand(at++) : none;
  if (at != site.operands()) site.fail("is a call through an address, which this card does not know");
  Call made;
  if (setsCondition) {
    made.in = passed(site, parameters, {{0, sizeof(std::uint64_t)}, {0, sizeof(std::uint32_t)}});
    site.in.number = static_cast<std::int64_t>(site.function.function.calls.size());
    site.function.function.calls.push_back(std::move(made));
    return site.emitFlow(each<setCondition>);
  }
  made.callee = function->second;
  made.in = passed(site, parameters, made.callee->parameters);
  made.out = passed(site, results, made.callee->results);
  site.in.number = static_cast<std::int64_t>(site.function.function.calls.size());
  site.function.function.calls.push_back(std::move(made));
  site.emitFlow(each<call>);
}

bool stop(const Instruction& in, Lane& lane) { fail(lane, in, FaultKind::Trap, "the kernel stops itself"); }

template <auto Does>
void alone(Site& site) {
  site.finish();
  site.expectOperands(0, 0);
  site.emitFlow(each<Does>);
}

void ret(Site& site) {
  site.take("uni");
  alone<goBack>(site);
}

}  // namespace

std::vector<OpcodeRow> controlOpcodes() {
  return {{"bra", bra}, {"brx", brx}, {"call", callOf}, {"ret", ret}, {"exit", alone<end>}, {"trap", alone<stop>}};
}

}  // namespace tbem::card
