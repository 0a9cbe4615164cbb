#include "compiler/process/Runners.h"

#include "compiler/support/Bug.h"

#include <embedded/tbem_runners.h>

#include <algorithm>

namespace tbem::driver {

std::string runnerText(std::string_view name) {
  const auto files = runners::files();
  const auto found = std::ranges::find_if(files, [&](const runners::File& file) { return file.name == name; });
  TBEM_CHECK(found != files.end());
  return std::string(found->text);
}

}  // namespace tbem::driver
