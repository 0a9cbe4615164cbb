// Pooling and reductions.
#include "compiler/emit/pytorch/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit {

namespace {

std::vector<Argument> window(const CallReader& call, Marked operand, const Marked& pad) {
  const Marked kernel = call.hole("kernel_size", evenText(call.integers("kernel")));
  return {{"", std::move(operand), ""},
          {"kernel_size", kernel, ""},
          {"stride", call.hole("stride", evenText(call.integers("stride"))), kernel},
          {"padding", pad, "0"}};
}
Code maxPool2d(const CallReader& call) {
  const Numbers pad = call.integers("pad");
  std::vector<Argument> arguments = window(call, paddedOperand(call, pad, ", value=float(\"-inf\")"), padding(call, pad));
  arguments.push_back({"ceil_mode", call.hole("ceil_mode", pythonText(call.flag("ceil_mode"))), "False"});
  return functionCode("F.max_pool2d", std::move(arguments));
}
Code avgPool2d(const CallReader& call) {
  const Numbers pad = call.integers("pad");
  std::vector<Argument> arguments = window(call, paddedOperand(call, pad, ""), padding(call, pad));
  arguments.push_back({"count_include_pad", call.hole("count_include_pad", pythonText(call.flag("count_include_pad"))), "True"});
  return functionCode("F.avg_pool2d", std::move(arguments));
}
Code pool1d(const CallReader& call, const char* name) {
  const Marked kernel = call.hole("kernel_size", call.integer("kernel"));
  return functionCode(fmt::format("F.{}", name), {{"", call.operand(0), ""},
                                                  {"kernel_size", kernel, ""},
                                                  {"stride", call.hole("stride", call.integer("stride")), kernel},
                                                  {"padding", call.hole("padding", call.integer("pad")), "0"}});
}
Code maxPool1d(const CallReader& call) { return pool1d(call, "max_pool1d"); }
Code avgPool1d(const CallReader& call) {
  Code code = pool1d(call, "avg_pool1d");
  code.call.arguments.push_back(
      {"count_include_pad", call.hole("count_include_pad", pythonText(call.flag("count_include_pad"))), "True"});
  return code;
}
Code adaptivePool(const CallReader& call, const char* name) {
  return functionCode(fmt::format("F.{}", name),
                      {{"", call.operand(0), ""}, {"", call.hole("size", evenText(call.integers("size"))), ""}});
}
Code adaptiveAvgPool2d(const CallReader& call) { return adaptivePool(call, "adaptive_avg_pool2d"); }
Code adaptiveMaxPool2d(const CallReader& call) { return adaptivePool(call, "adaptive_max_pool2d"); }
Code globalAvgPool(const CallReader& call) {
  return expressionCode(call.operand(0, Binding::Atom) + ".mean(dim=(2, 3))", Binding::Atom);
}

Code reduction(const CallReader& call, const char* name) {
  return functionCode(fmt::format("torch.{}", name),
                      {{"", call.operand(0), ""}, {"dim", call.hole("dim", pythonText(call.integers("axis"))), ""}});
}
Code sum(const CallReader& call) { return reduction(call, "sum"); }
Code mean(const CallReader& call) { return reduction(call, "mean"); }
Code max(const CallReader& call) { return reduction(call, "amax"); }
Code min(const CallReader& call) { return reduction(call, "amin"); }
Code variance(const CallReader& call) {
  Code code = reduction(call, "var");
  code.call.arguments.push_back({"correction", "0", ""});
  return code;
}
Code cumsum(const CallReader& call) {
  return functionCode("torch.cumsum", {{"", call.operand(0), ""}, {"dim", call.hole("dim", call.integer("axis")), ""}});
}
Code sumSquares(const CallReader& call) {
  return expressionCode(fmt::format("torch.square({}).sum()", call.operand(0)), Binding::Atom);
}

constexpr auto kWriters = std::to_array<Writer>({{"max_pool2d", maxPool2d},
                                                 {"avg_pool2d", avgPool2d},
                                                 {"max_pool1d", maxPool1d},
                                                 {"avg_pool1d", avgPool1d},
                                                 {"adaptive_avg_pool2d", adaptiveAvgPool2d},
                                                 {"adaptive_max_pool2d", adaptiveMaxPool2d},
                                                 {"global_avg_pool", globalAvgPool},
                                                 {"sum", sum},
                                                 {"mean", mean},
                                                 {"max", max},
                                                 {"min", min},
                                                 {"variance", variance},
                                                 {"cumsum", cumsum},
                                                 {"sum_squares", sumSquares}});

}  // namespace

std::span<const Writer> reductionWriters() { return kWriters; }

}  // namespace tbem::emit
