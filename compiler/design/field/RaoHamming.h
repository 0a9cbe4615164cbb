// Orthogonal arrays from finite fields and groups: Rao-Hamming, Bush, zero-sum.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <optional>

namespace tbem::design {

/// OA(q^m, (q^m - 1)/(q - 1), q, 2), its first `columns` columns: a column is a point of PG(m-1, q), a row a vector of GF(q)^m, a
/// cell their product (Rao 1947; Hedayat, Sloane, Stufken, theorem 3.20). The first m columns are the unit vectors, so that the
/// first rows count up. Nothing where q is no prime power, m < 2, columns are too many, or q^m > maxRuns.
std::optional<Array> raoHamming(std::uint32_t q, std::uint32_t m, std::uint32_t columns, std::size_t maxRuns);

/// OA(q^t, q + 1, q, t), for t = 3 and q even OA(q^3, q + 2, q, 3): a row is a polynomial of degree < t over GF(q), a column its
/// value at a point or its leading coefficient (Bush 1952). Needs q >= t - 1. Nothing otherwise.
std::optional<Array> bush(std::uint32_t q, std::uint32_t t, std::uint32_t columns, std::size_t maxRuns);

/// OA(s^t, t + 1, s, t) for any s >= 2: all rows of t levels and minus their sum modulo s. Nothing where columns > t + 1 or s^t >
/// maxRuns.
std::optional<Array> zeroSum(std::uint32_t s, std::uint32_t t, std::uint32_t columns, std::size_t maxRuns);

/// base^exponent, or nothing above `limit`.
std::optional<std::size_t> powerUpTo(std::size_t base, std::uint32_t exponent, std::size_t limit);

}  // namespace tbem::design
