// Four circulants that make a Hadamard matrix. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// First rows of +1 and -1 of one odd length n whose periodic autocorrelations add to 0 at every shift: the four circulants then
/// make a Hadamard matrix of order 4 n (Goethals and Seidel 1967).
struct FourCirculants {
  std::array<std::vector<std::int8_t>, 4> rows;
  std::string words;  ///< "four circulants of order 43, constant on the orbits of 4"
};

/// Those of length n: constant on the orbits of a group of multipliers (Williamson 1944 with -1 among them), from Golay's pairs
/// of length (n - 1) / 2 (Golay 1961, Turyn 1974), or from Turyn-type sequences of length (n + 1) / 3. Nothing for other n.
std::optional<FourCirculants> fourCirculants(std::uint32_t n);
bool fourCirculantsReach(std::uint32_t n);

}  // namespace tbem::design
