// A network that no design builds, built at sizes of our own.
#pragma once

#include "compiler/driver/Pipeline.h"

#include <tl/expected.hpp>

#include <memory>
#include <string>

namespace tbem::driver {

/// The text of a design that builds a network.
struct Trial {
  std::string text;
  std::string sizes;  ///< "n = 2, h = 32"
};

/// How a trial gives sizes.
enum class TrialSizes : std::uint8_t {
  Numbers,  ///< as numbers; parameters have their defaults
  Factors   ///< as factors of one level, so that they are symbols; so are whole numbers without a default; parameters with a
            ///< domain are factors with all of it
};

/// 2 samples, `size` for the other dimensions and for numbers without a default. Nothing, and why, where there is none.
tl::expected<Trial, std::string> trialOf(const ast::Callable& network, const SourceManager& sources, int size, TrialSizes sizes);

/// A trial's design. Not movable: the experiment refers to the spec.
struct TrialDesign {
  std::unique_ptr<ast::File> file;
  graph::DesignSpec spec;
  graph::Experiment experiment;

  TrialDesign(std::unique_ptr<ast::File> file, graph::DesignSpec spec, Workspace& workspace, const Options& options);
};
/// nullptr where it has mistakes, which are in the session.
std::unique_ptr<TrialDesign> designOf(Workspace& workspace, const Trial& trial, const Options& options);

/// Whether other sizes may mend it.
bool dependsOnSizes(Diag kind);

/// Sizes that are tried in turn.
inline constexpr int kTrialSizes[] = {32, 224, 28, 64, 16, 8, 1};

}  // namespace tbem::driver
