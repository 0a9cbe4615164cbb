// Losses.
#include "compiler/emit/pytorch/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit {

namespace {

/// Classes lie along axis 1 for PyTorch, and in sequences [n, l, k] along the last for us.
Marked scores(const CallReader& call) {
  return call.shape(0).size() == 3 ? call.operand(0, Binding::Atom) + ".transpose(1, 2)" : call.operand(0);
}
Code crossEntropy(const CallReader& call) {
  return functionCode(
      "F.cross_entropy",
      {{"", scores(call), ""}, {"", call.operand(1), ""}, {"label_smoothing", call.realHole("smoothing"), "0.0"}});
}
Code nll(const CallReader& call) { return functionCode("F.nll_loss", {{"", scores(call), ""}, {"", call.operand(1), ""}}); }
Code loss(const CallReader& call, const char* name, std::vector<Argument> more = {}) {
  std::vector<Argument> arguments = {{"", call.operand(0), ""}, {"", call.operand(1), ""}};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return functionCode(fmt::format("F.{}", name), std::move(arguments));
}
Code mse(const CallReader& call) { return loss(call, "mse_loss"); }
Code l1(const CallReader& call) { return loss(call, "l1_loss"); }
Code huber(const CallReader& call) { return loss(call, "huber_loss", {{"delta", call.realHole("delta"), "1.0"}}); }
Code smoothL1(const CallReader& call) { return loss(call, "smooth_l1_loss", {{"beta", call.realHole("beta"), "1.0"}}); }
Code bce(const CallReader& call) { return loss(call, "binary_cross_entropy"); }
Code bceWithLogits(const CallReader& call) { return loss(call, "binary_cross_entropy_with_logits"); }
Code klDiv(const CallReader& call) { return loss(call, "kl_div", {{"reduction", "\"batchmean\"", ""}}); }

constexpr auto kWriters = std::to_array<Writer>({{"cross_entropy", crossEntropy},
                                                 {"nll", nll},
                                                 {"mse", mse},
                                                 {"l1", l1},
                                                 {"huber", huber},
                                                 {"smooth_l1", smoothL1},
                                                 {"bce", bce},
                                                 {"bce_with_logits", bceWithLogits},
                                                 {"kl_div", klDiv}});

}  // namespace

std::span<const Writer> lossWriters() { return kWriters; }

}  // namespace tbem::emit
