// What methods did, as tables, and the sentence that says what that comes to.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/show/perturb/PerturbReport.h"
#include "runtime/report/Svg.h"

#include <span>
#include <string>

namespace tbem::driver {

/// What an example costs before and after, how the examples changed, and how long that took: a row for each method.
void printMethods(show::Out& out, const std::string& name, std::span<const MethodResult> results);
/// Each point of a method.
void printPoints(show::Out& out, const std::string& name, const MethodResult& result);
/// What no point can cost more than, beside what was found.
std::string certifiedText(const Certified& certified);
/// Of the methods, the one that slows the network most, and how much of that noise reaches.
std::string verdictText(std::span<const MethodResult> results);
/// The share of examples that cost no more than so many FLOPs, before and after each method.
report::Plot costCurves(const std::string& name, std::span<const MethodResult> results);

}  // namespace tbem::driver
