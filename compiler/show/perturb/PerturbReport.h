// What a search for slow inputs says while it runs and when it is over: lines and tables for people, or JSON.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/measured/RunView.h"
#include "runtime/report/Progress.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

/// What a method did, and the same in numbers.
struct MethodResult {
  perturb::Series series;
  perturb::Summary summary;
};

struct PerturbView {
  std::string backend;
  bool keeps = true;    ///< points are kept where the next run finds them
  bool points = false;  ///< each point is shown
};

class PerturbReport final : public RunView {
public:
  /// `out` must outlive this.
  PerturbReport(show::Out& out, PerturbView view) : RunView(out), view(std::move(view)) {}
  void perturbationBegins(const PerturbationRun& perturbation, const perturb::Victim& victim) override;
  void perturbing(const PerturbationRun& perturbation, std::int64_t done, std::int64_t total, const std::string& what) override;
  void methodEnds(const PerturbationRun& perturbation, const perturb::Series& series, const perturb::Summary& summary) override;
  void defended(const PerturbationRun& perturbation, const Defences& defences, const perturb::Summary& first) override;
  void certified(const PerturbationRun& perturbation, const Certified& certified) override;
  void perturbationEnds(const PerturbationRun& perturbation, const perturb::Outcome* outcome) override;

private:
  PerturbView view;
  std::vector<MethodResult> results;  ///< of the perturbation that runs: methods that ended
  std::unique_ptr<report::Progress> bar;
};

/// A perturbation that ended, as text: its title, its tables, and how it ended where it was not finished.
void printPerturbed(show::Out& out, const Perturbed& perturbed);

/// The same on the page that is made, with the FLOPs of examples and of points as curves.
void printPerturbedPage(show::Out& out, const Perturbed& perturbed, const std::string& folder);

}  // namespace tbem::driver
