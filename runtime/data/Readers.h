// The two functions of each reader, for the table in Readers.cpp. One file a reader; its parameters are documented at its
// declaration in stdlib/data.
#pragma once

#include "runtime/data/Dataset.h"

namespace tbem::data {

tl::expected<Description, std::string> describeSynthetic(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openSynthetic(const Settings& settings);

}  // namespace tbem::data
