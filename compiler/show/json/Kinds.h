// The one description of what `--json` prints. Its schemas (Schemas.h), docs/json.md (KindsPage.cpp) and the check of what is
// printed (Check.h) are made from it, so that they cannot disagree.
#pragma once

#include "compiler/show/json/Field.h"

#include <span>
#include <string_view>

namespace tbem::show {

/// Kinds that stand together on the page.
struct JsonGroup {
  std::string_view title;
  std::span<const JsonKind> kinds;
};

/// One file of this folder each: CheckingKinds.cpp, ..
std::span<const JsonKind> checkingKinds();
std::span<const JsonKind> estimateKinds();
std::span<const JsonKind> searchKinds();
std::span<const JsonKind> measureKinds();
std::span<const JsonKind> runKinds();
std::span<const JsonKind> perturbKinds();
std::span<const JsonKind> proofKinds();
std::span<const JsonKind> planKinds();
std::span<const JsonKind> toolKinds();
std::span<const JsonKind> dialogueKinds();

/// All of them, in the order of the page.
std::span<const JsonGroup> jsonGroups();
/// nullptr: there is no such kind.
const JsonKind* findJsonKind(std::string_view name);

}  // namespace tbem::show
