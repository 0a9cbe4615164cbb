// The two functions of each reader, for the table in Readers.cpp. One file a reader; its parameters are documented at its
// declaration in stdlib/data.
#pragma once

#include "runtime/data/Dataset.h"

namespace tbem::data {

tl::expected<Description, std::string> describeCifar10(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openCifar10(const Settings& settings);
tl::expected<Description, std::string> describeCifar100(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openCifar100(const Settings& settings);
tl::expected<Description, std::string> describeFashionMnist(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openFashionMnist(const Settings& settings);
tl::expected<Description, std::string> describeImageFolder(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openImageFolder(const Settings& settings);
tl::expected<Description, std::string> describeMnist(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openMnist(const Settings& settings);
tl::expected<Description, std::string> describeNpy(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openNpy(const Settings& settings);
tl::expected<Description, std::string> describeSvhn(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openSvhn(const Settings& settings);
tl::expected<Description, std::string> describeSynthetic(const Settings& settings);
tl::expected<std::unique_ptr<Dataset>, std::string> openSynthetic(const Settings& settings);

}  // namespace tbem::data
