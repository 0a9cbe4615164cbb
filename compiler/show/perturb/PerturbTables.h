// What methods did, as tables, and the sentence that says what that comes to.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/show/perturb/PerturbReport.h"
#include "runtime/report/Svg.h"

#include <optional>
#include <span>
#include <string>

namespace tbem::driver {

/// What an example costs before and after, how the examples changed, how long that took and, where it was measured, the energy: a
/// row for each method.
void printMethods(show::Out& out, const std::string& name, std::span<const MethodResult> results);
/// How many points a charge lasts for that lasts for 10 000 of the examples (Chen et al. 2022, section 2, drain a battery so);
/// nothing where energy was not measured.
std::optional<double> batteryLeft(const perturb::Growth& energy);
/// Each point of a method.
void printPoints(show::Out& out, const std::string& name, const MethodResult& result);
/// Seconds of one bound; nothing where the store had them all.
std::optional<double> secondsOfBound(const Certified& certified);
/// What no point can cost more than, beside what was found.
std::string certifiedText(const Certified& certified);
/// Of the methods, the one that slows the network most, and how much of that noise reaches.
std::string verdictText(std::span<const MethodResult> results);
/// Of each method that learned, from how many examples on it has taken less time than the one that slows most of those that
/// search for each example by itself (Chen et al. 2022, table 5): a line each, "" where there is none to say.
std::string crossoverText(std::span<const MethodResult> results);
/// The share of examples that cost no more than so many FLOPs, before and after each method.
report::Plot costCurves(const std::string& name, std::span<const MethodResult> results);

}  // namespace tbem::driver
