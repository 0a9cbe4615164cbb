// Buffers and plans as CSV. What is read can be written, and reads back as the same; the check of a plan ends.
#include "compiler/plan/PlanFile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::estimate;
  const auto plan = readPlanFile({reinterpret_cast<const char*>(data), size});
  if (!plan) {
    const tbem::CsvFault& fault = plan.error();
    if (fault.begin > fault.end || fault.end > size || fault.cause.empty() || fault.wayOut.empty()) __builtin_trap();
    return 0;
  }
  const auto again = readPlanFile(planText(*plan));
  if (!again || !differences(*plan, *again).empty() || again->offsets.size() != plan->offsets.size()) __builtin_trap();
  if (plan->offsets.size() == plan->requests.size() && !checkOverlap(plan->requests, plan->offsets, 1)) {
    if (topOf(*plan) < liveBound(plan->requests, 1)) __builtin_trap();
  }
  return 0;
}
