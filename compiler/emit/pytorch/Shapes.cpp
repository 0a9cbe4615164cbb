// Operators that move elements, and tensors of given numbers.
#include "compiler/emit/pytorch/PyTorch.h"
#include "compiler/emit/pytorch/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit {

namespace {

/// Numbers one after the other, each of which may be a parameter.
Marked listed(const CallReader& call, const char* name, const Numbers& numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + (number < 0 ? pythonText(number) : call.hole(name, number));
  return text;
}
Code reshape(const CallReader& call) {
  Numbers shape = call.resultShape();
  if (!shape.empty()) shape.front() = -1;  // left to PyTorch, so that the batch is no number of the program
  if (shape.empty()) return expressionCode(call.operand(0, Binding::Atom) + ".reshape(())", Binding::Atom);
  return expressionCode(fmt::format("{}.reshape({})", call.operand(0, Binding::Atom), listed(call, "size", shape)),
                        Binding::Atom);
}
Code flatten(const CallReader& call) { return functionCode("torch.flatten", {{"", call.operand(0), ""}, {"", "1", ""}}); }
Code permute(const CallReader& call) {
  return expressionCode(
      fmt::format("{}.permute({})", call.operand(0, Binding::Atom), listed(call, "axis", call.integers("order"))), Binding::Atom);
}
Code transpose(const CallReader& call) {
  return expressionCode(fmt::format("{}.transpose({}, {})", call.operand(0, Binding::Atom),
                                    call.hole("first", call.integer("first")), call.hole("second", call.integer("second"))),
                        Binding::Atom);
}
Code pad(const CallReader& call) {
  const Numbers low = call.integers("low"), high = call.integers("high");
  Numbers sides;
  for (std::size_t axis = low.size(); axis-- > 0;) sides.insert(sides.end(), {low[axis], high[axis]});
  while (sides.size() > 2 && sides[sides.size() - 1] == 0 && sides[sides.size() - 2] == 0) sides.resize(sides.size() - 2);
  return functionCode("F.pad", {{"", call.operand(0), ""}, {"", call.hole("padding", pythonText(sides)), ""}});
}
Code slice(const CallReader& call) {
  return sliceCode(call.operand(0, Binding::Atom), call.integers("start"), call.integers("size"), call.integers("stride"),
                   call.shape(0));
}
Code joined(const CallReader& call, const char* name) {
  std::string list;
  for (const graph::TensorId tensor : tensorsOf(call.call.tensors.front()))
    list += (list.empty() ? "" : ", ") + Scribe::operand(tensor);
  return functionCode(fmt::format("torch.{}", name),
                      {{"", "[" + list + "]", ""}, {"dim", call.hole("dim", call.integer("axis")), "0"}});
}
Code concat(const CallReader& call) { return joined(call, "cat"); }
Code stack(const CallReader& call) { return joined(call, "stack"); }
Code split(const CallReader& call) {
  const Numbers sizes = call.integers("sizes");
  return functionCode("torch.split", {{"", call.operand(0), ""},
                                      {"", call.hole("sizes", fmt::format("[{}]", fmt::join(sizes, ", "))), ""},
                                      {"dim", call.hole("dim", call.integer("axis")), "0"}});
}
Code flip(const CallReader& call) {
  return functionCode("torch.flip",
                      {{"", call.operand(0), ""}, {"dims", call.hole("dims", pythonText(call.integers("axis"))), ""}});
}
Code roll(const CallReader& call) {
  return functionCode("torch.roll", {{"", call.operand(0), ""},
                                     {"shifts", call.hole("shifts", pythonText(call.integers("shift"))), ""},
                                     {"dims", call.hole("dims", pythonText(call.integers("axis"))), ""}});
}
Code broadcastTo(const CallReader& call) {
  const Numbers before = call.shape(0);
  Numbers after = call.resultShape();
  for (std::size_t k = 0; k < before.size(); ++k) {
    std::int64_t& size = after[after.size() - before.size() + k];
    if (size == before[k]) size = -1;
  }
  return expressionCode(fmt::format("{}.expand({})", call.operand(0, Binding::Atom), listed(call, "size", after)), Binding::Atom);
}
Code channelShuffle(const CallReader& call) {
  return functionCode("F.channel_shuffle", {{"", call.operand(0), ""}, {"", call.hole("groups", call.integer("groups")), ""}});
}
Code pixelShuffle(const CallReader& call) {
  return functionCode("F.pixel_shuffle", {{"", call.operand(0), ""}, {"", call.hole("factor", call.integer("factor")), ""}});
}
Code upsample2d(const CallReader& call) {
  const bool bilinear = call.text("mode") == "bilinear";
  std::vector<Argument> arguments = {{"", call.operand(0), ""}, {"size", call.hole("size", evenText(call.integers("size"))), ""}};
  if (bilinear) {
    arguments.push_back({"mode", "\"bilinear\"", ""});
    arguments.push_back({"align_corners", call.hole("align_corners", pythonText(call.flag("align_corners"))), ""});
  }
  return functionCode("F.interpolate", std::move(arguments));
}

Code filled(const CallReader& call, const char* name) {
  std::vector<Argument> arguments = {{"", call.hole("shape", pythonText(call.resultShape())), ""}};
  if (std::string_view(name) == "full") arguments.push_back({"", call.realHole("value"), ""});
  return functionCode(fmt::format("torch.{}", name), std::move(arguments));
}
Code zeros(const CallReader& call) { return filled(call, "zeros"); }
Code ones(const CallReader& call) { return filled(call, "ones"); }
Code fill(const CallReader& call) { return filled(call, "full"); }
Code arange(const CallReader& call) { return functionCode("torch.arange", {{"", call.hole("n", call.integer("n")), ""}}); }
Code oneHot(const CallReader& call) {
  return expressionCode(fmt::format("F.one_hot({}, {}).to({})", call.operand(0), call.hole("classes", call.integer("classes")),
                                    pyTorchType(call.resultType())),
                        Binding::Atom);
}
Code chosen(const CallReader& call, const char* name) {
  return functionCode(fmt::format("torch.{}", name),
                      {{"", call.operand(0), ""}, {"dim", call.hole("dim", call.integer("axis")), ""}});
}
Code argmax(const CallReader& call) { return chosen(call, "argmax"); }
Code argmin(const CallReader& call) { return chosen(call, "argmin"); }
Code cast(const CallReader& call) {
  return expressionCode(fmt::format("{}.to({})", call.operand(0, Binding::Atom), pyTorchType(call.resultType())), Binding::Atom);
}
Code gather(const CallReader& call) {
  const std::int64_t rank = static_cast<std::int64_t>(call.shape(0).size());
  std::string axes;
  for (std::int64_t axis = (call.integer("axis") + rank) % rank; axis > 0; --axis) axes += ":, ";
  return expressionCode(fmt::format("{}[{}{}]", call.operand(0, Binding::Atom), axes, call.operand(1)), Binding::Atom);
}
Code paddedGather(const CallReader& call) {
  return functionCode(
      "F.embedding",
      {{"", call.operand(1), ""}, {"", call.operand(0), ""}, {"padding_idx", call.hole("padding", call.integer("padding")), ""}});
}

constexpr auto kWriters = std::to_array<Writer>({{"reshape", reshape},
                                                 {"flatten", flatten},
                                                 {"permute", permute},
                                                 {"transpose", transpose},
                                                 {"pad", pad},
                                                 {"slice", slice},
                                                 {"concat", concat},
                                                 {"stack", stack},
                                                 {"split", split},
                                                 {"flip", flip},
                                                 {"roll", roll},
                                                 {"broadcast_to", broadcastTo},
                                                 {"channel_shuffle", channelShuffle},
                                                 {"pixel_shuffle", pixelShuffle},
                                                 {"upsample2d", upsample2d},
                                                 {"zeros", zeros},
                                                 {"ones", ones},
                                                 {"fill", fill},
                                                 {"arange", arange},
                                                 {"one_hot", oneHot},
                                                 {"argmax", argmax},
                                                 {"argmin", argmin},
                                                 {"cast", cast},
                                                 {"as_real", cast},
                                                 {"gather", gather},
                                                 {"padded_gather", paddedGather}});

}  // namespace

std::span<const Writer> shapeWriters() { return kWriters; }

}  // namespace tbem::emit
