// Which modules hold exactly these names, for lists that people read.
#pragma once

#include <string>
#include <vector>

namespace tbem {

/// Names such as "encoder.layer.0.weight", by the widest modules that hold them and nothing else.
struct NameCover {
  std::vector<std::string> modules;  ///< with the dot at their end: "encoder."
  std::vector<std::string> alone;    ///< names in no such module
};

/// In the order of `names`, none of which is among `others`.
NameCover coverOf(const std::vector<std::string>& names, const std::vector<std::string>& others);

}  // namespace tbem
