#include "compiler/devices/WorkspaceQuery.h"

#include <algorithm>
#include <limits>

namespace tbem::driver {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

template <class Pick>
WorkspaceChoice choose(const estimate::Program& program, const WorkspaceUse& use, Pick pick) {
  WorkspaceChoice choice;
  std::vector<std::uint64_t> bytes(program.calls.size(), 0);
  for (const AskedConvolution& one : use.convolutions) {
    const std::optional<std::size_t> engine = pick(one, choice);
    if (!engine) continue;
    for (const ConvolutionCall& call : one.calls) bytes[call.call] = one.engines[*engine].workspace;
    choice.largest = std::max(choice.largest, one.engines[*engine].workspace);
  }
  choice.peak = estimate::planWithWorkspaces(program, bytes);
  return choice;
}

}  // namespace

std::string askEngines(AskedConvolution& one, EngineSource& source, cudnn::Policy policy) {
  const std::uint64_t limit = policy.limit;
  policy.limit = kNoLimit;
  for (const cudnn::List list : {cudnn::List::Heuristic, cudnn::List::Fallback}) {
    auto answer = source.engines(one.problem, list);
    if (!answer) return answer.error();
    one.engines = std::move(answer->engines);
    one.origin = answer->origin;
    one.fallback = list == cudnn::List::Fallback;
    one.first = cudnn::first(one.problem, one.engines, policy);
    if (one.first) break;
  }
  one.smallest = cudnn::smallest(one.problem, one.engines, policy);
  one.largest = cudnn::largest(one.problem, one.engines, policy);
  policy.limit = limit;
  if (limit != kNoLimit) one.limited = cudnn::first(one.problem, one.engines, policy);
  return {};
}

tl::expected<WorkspaceUse, std::string> queryWorkspaces(const estimate::Program& program, EngineSource& source,
                                                        cudnn::Order order, const cudnn::Policy& policy) {
  using Engine = std::optional<std::size_t>;
  WorkspaceUse use;
  for (const ConvolutionCall& call : convolutionsOf(program, order, use.notAsked)) {
    auto known = std::find_if(use.convolutions.begin(), use.convolutions.end(),
                              [&](const AskedConvolution& one) { return one.problem == call.problem; });
    if (known == use.convolutions.end()) {
      AskedConvolution one;
      one.problem = call.problem;
      if (const std::string why = askEngines(one, source, policy); !why.empty()) return tl::unexpected(why);
      known = use.convolutions.insert(known, std::move(one));
    }
    known->calls.push_back(call);
  }
  use.none = choose(program, use, [](const AskedConvolution&, WorkspaceChoice&) { return Engine(); });
  use.first = choose(program, use, [](const AskedConvolution& one, WorkspaceChoice&) { return one.first; });
  use.smallest = choose(program, use, [](const AskedConvolution& one, WorkspaceChoice&) { return one.smallest; });
  if (policy.limit != kNoLimit) {
    use.limited = choose(program, use, [](const AskedConvolution& one, WorkspaceChoice& choice) {
      if (one.limited || !one.smallest) return one.limited;
      choice.over += one.calls.size();
      return one.smallest;
    });
  }
  return use;
}

}  // namespace tbem::driver
