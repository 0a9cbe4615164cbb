// Plans of buffers: their places as CSV with what is known of them, or a JSON object.
#pragma once

#include "compiler/plan/BufferPlan.h"
#include "compiler/show/Out.h"

#include <cstdint>
#include <string>

namespace tbem::driver {

/// "1.00 KiB (1024 B)".
std::string bytesText(std::uint64_t bytes);

/// The plan on standard output; what is known of it on standard error, or all of it as JSON.
void printPlan(show::Out& out, const estimate::BufferPlan& plan);
/// Of a plan that does not fit what is wished: why.
std::string whyNoPlan(const estimate::BufferPlan& plan, const estimate::PlanWish& wish);
/// Of a plan whose offsets were given, and hold.
void printVerified(show::Out& out, const estimate::PlanFile& plan, std::uint64_t bound);
void printDifferences(show::Out& out, const estimate::PlanFile& a, const estimate::PlanFile& b);

}  // namespace tbem::driver
