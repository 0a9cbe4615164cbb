#include "compiler/show/json/Kinds.h"

#include <array>

namespace tbem::show {

std::span<const JsonGroup> jsonGroups() {
  static const std::array groups = {
      JsonGroup{"Checking and designs", checkingKinds()},  JsonGroup{"Estimates", estimateKinds()},
      JsonGroup{"Searches over estimates", searchKinds()}, JsonGroup{"Measurements", measureKinds()},
      JsonGroup{"Steps and trainings", runKinds()},        JsonGroup{"Perturbations", perturbKinds()},
      JsonGroup{"Specifications", proofKinds()},           JsonGroup{"Plans and replays", planKinds()},
      JsonGroup{"Documentation and tools", toolKinds()},   JsonGroup{"Dialogues", dialogueKinds()},
  };
  return groups;
}

const JsonKind* findJsonKind(std::string_view name) {
  for (const JsonGroup& group : jsonGroups()) {
    for (const JsonKind& kind : group.kinds) {
      if (kind.name == name) return &kind;
    }
  }
  return nullptr;
}

}  // namespace tbem::show
