// Finite fields GF(p^m), small enough to be tables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

/// q = prime ^ exponent, or nothing.
struct PrimePower {
  std::uint32_t prime = 0, exponent = 0;
};
std::optional<PrimePower> primePower(std::uint32_t q);

/// The field of q elements, named 0 .. q-1: the base-p digits of a name are the coefficients of a polynomial over GF(p), lowest
/// first, modulo the first irreducible monic polynomial of its degree. So 0 and 1 are the neutral elements and, for a prime q,
/// names are residues.
class Galois {
public:
  static constexpr std::uint32_t kLargest = 1024;
  /// Nothing where q is no prime power or exceeds kLargest.
  static std::optional<Galois> make(std::uint32_t q);

  std::uint32_t size() const { return q; }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const {
    if (!sums.empty()) return sums[a * q + b];
    return a + b < q ? a + b : a + b - q;
  }
  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
    return a == 0 || b == 0 ? 0 : powers[std::size_t{logarithms[a]} + logarithms[b]];
  }
  std::uint32_t negate(std::uint32_t a) const { return negatives[a]; }
  /// The first element of which all others but 0 are powers.
  std::uint32_t primitive() const { return powers[1]; }
  /// 1 for a non-zero square, -1 for a non-square, 0 for 0 (q odd).
  int quadraticCharacter(std::uint32_t a) const;

private:
  Galois() = default;
  std::uint32_t q = 0;
  std::vector<std::uint16_t> sums;  ///< none where q is a prime
  std::vector<std::uint16_t> negatives;
  std::vector<std::uint16_t> powers, logarithms;  ///< of a primitive element; powers up to the exponent 2 (q - 2)
  void findSums(std::uint32_t p);
  void findPowers(std::uint32_t p, const std::vector<std::uint32_t>& modulus);
};

}  // namespace tbem::design
