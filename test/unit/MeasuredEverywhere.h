// A measurement with another value in every field of Measurement.def, and the comparison of all of them.
#pragma once

#include "runtime/core/Measurement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tbem::test {

inline runtime::Measurement measuredEverywhere() {
  runtime::Measurement value;
  value.status = runtime::Status::Ok;
  double next = 1.25;
  const auto fill = [&next](auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>)
      member = "text " + std::to_string(next);
    else if constexpr (std::is_same_v<Member, std::vector<double>>)
      member = {next, -next};
    else if constexpr (std::is_same_v<Member, std::optional<std::uint64_t>>)
      member = static_cast<std::uint64_t>(next);
    else
      member = next;
    next += 1;
  };
  forEachField(value, [&](runtime::MeasuredField, auto& member) { fill(member); });
  return value;
}

inline void expectSameEverywhere(const runtime::Measurement& got, const runtime::Measurement& wanted) {
  EXPECT_EQ(got.status, wanted.status);
  const auto texts = [](const runtime::Measurement& value) {
    std::map<std::string, std::string> all;
    forEachField(value,
                 [&](runtime::MeasuredField field, const auto& member) { all[field.column] = testing::PrintToString(member); });
    return all;
  };
  EXPECT_EQ(texts(got), texts(wanted));
}

}  // namespace tbem::test
